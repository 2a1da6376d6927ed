"""client_secret_jwt and private_key_jwt: a JWT signed with the client's secret or key (RFC 7523 §3, OIDC Core §9)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import cache
from secrets import token_urlsafe
from typing import ClassVar

import msgspec
import structlog

from service.clients.keys import ClientKeys
from service.keys import jose
from service.keys.algorithms import MAC_ALGORITHMS, SIGNING_ALGORITHMS
from service.keys.foreign_keys import UNNAMED, accepted_header, check_times, time_in
from service.model.client import Client
from service.model.credentials import Evidence, RequestCredentials
from service.model.handle import digest
from service.model.request_context import caller
from service.model.secret import Secret
from service.protocol.errors import InvalidClient
from service.protocol.path_aliases import NO_ALIASES, PathAliases
from service.protocol.paths import TOKEN
from service.protocol.token_types import CLIENT_ASSERTION
from service.store.room import MARKER, Room
from service.store.stores import Stores

log = structlog.stdlib.get_logger(__name__)

MAX_LIFETIME = 3600
"""Seconds; widely used libraries sign assertions for an hour."""

_RSA_OF_NOBODY = {"kty": "RSA", "n": "_" * 341 + "w", "e": "AQAB"}

_REQUEST_OBJECT_CLAIMS = frozenset({"client_id", "redirect_uri", "response_type", "scope"})
"""Claims of which a request object has at least one (RFC 9101 §4), and a client assertion none."""

_TYP = frozenset({UNNAMED, "jwt", "client-authentication+jwt"})
_READS = frozenset({"client_assertion", "client_assertion_type"})


class ClientSecretJwt(msgspec.Struct, frozen=True):
    algorithms: ClassVar[tuple[str, ...]] = tuple(MAC_ALGORITHMS)
    reads: ClassVar[frozenset[str]] = _READS
    assertions: ClientAssertions

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        return _read_assertion(request, is_by_secret=True)

    async def proves(self, evidence: Evidence, client: Client | None) -> Secret | bool:
        if not await self.assertions.prove(evidence, client, algorithms=self.algorithms):
            return False
        return (client and self.assertions.keys.find_secret(evidence.proof, client)) or True


class PrivateKeyJwt(msgspec.Struct, frozen=True):
    algorithms: ClassVar[tuple[str, ...]] = SIGNING_ALGORITHMS
    reads: ClassVar[frozenset[str]] = _READS
    assertions: ClientAssertions

    def read_evidence(self, request: RequestCredentials) -> Evidence | None:
        return _read_assertion(request, is_by_secret=False)

    async def proves(self, evidence: Evidence, client: Client | None) -> bool:
        return await self.assertions.prove(evidence, client, algorithms=self.algorithms)


class ClientAssertions(msgspec.Struct, frozen=True, kw_only=True):
    issuer: str
    base_urls: tuple[str, ...]
    """Those to which the paths of endpoints are added: the issuer's, and that of `mtls_endpoint_aliases`."""
    aliases: PathAliases = NO_ALIASES
    keys: ClientKeys
    stores: Stores
    room: Room
    clock_skew: int

    async def prove(
        self, evidence: Evidence, client: Client | None, *, algorithms: Collection[str]
    ) -> bool:
        """Return whether the client signed the assertion.

        Raise InvalidClient if it is not for this service, or has been used before: only a sender
        that has proven the client's key learns what is wrong with its claims.
        """
        if evidence.request.params.get("client_assertion_type") != CLIENT_ASSERTION:
            claimed = client.client_id if client else None
            raise InvalidClient(f"client_assertion_type is not {CLIENT_ASSERTION}", claimed=claimed)
        if client is None:
            _verify_for_nobody(evidence.proof, algorithms)
            return False
        try:
            claims = await self._verify(evidence, client, algorithms)
        except jose.JwtRefused as refused:
            _log_refusal(client, refused)
            return False
        try:
            self._check(claims, evidence, client)
            await self._use_up(claims, evidence, client)
        except jose.JwtRefused as refused:
            _log_refusal(client, refused)
            message = f"the client assertion is refused: {refused}"
            raise InvalidClient(message, claimed=client.client_id) from refused
        return True

    async def _verify(
        self, evidence: Evidence, client: Client, algorithms: Collection[str]
    ) -> Mapping[str, object]:
        """Return the claims that the client signed, in the type and by an algorithm that it may use."""
        registered = client.token_endpoint_auth_signing_alg
        accepted = client.accepted_algorithms(algorithms, registered=registered)
        return await self.keys.verify(evidence.proof, client, algorithms=accepted, typ=_TYP)

    def _check(self, claims: Mapping[str, object], evidence: Evidence, client: Client) -> None:
        """Raise JwtRefused unless it is an assertion about the client for this service, and counts now."""
        if (claims.get("iss"), claims.get("sub")) != (client.client_id, client.client_id):
            raise jose.JwtRefused("iss and sub are not the client_id")
        if not _REQUEST_OBJECT_CLAIMS.isdisjoint(claims):
            raise jose.JwtRefused("it is a request object, which every browser may have seen")
        request = evidence.request
        self._check_audience(claims.get("aud"), request.endpoint, client)
        check_times(claims, now=request.now, clock_skew=self.clock_skew)

    def _check_audience(self, audience: object, endpoint: str, client: Client) -> None:
        """Raise unless it is one value, so that no other server can use it here (draft-ietf-oauth-rfc7523bis §4, RFC 8705 §5).

        For a client of FAPI 2 it is the issuer as a string (FAPI 2.0 Security Profile §5.3.2.1).
        """
        if client.follows_fapi2 and audience != self.issuer:
            raise jose.JwtRefused("aud is not the issuer")
        aliases = NO_ALIASES if client.follows_fapi else self.aliases
        paths = [path for own in (TOKEN, endpoint) for path in aliases.paths_of(own)]
        ours = [base + path for base in self.base_urls for path in paths]
        if not any(audience in (one, [one]) for one in (self.issuer, *ours)):
            raise jose.JwtRefused("aud is not this service alone")

    async def _use_up(
        self, claims: Mapping[str, object], evidence: Evidence, client: Client
    ) -> None:
        """Remember the `jti` in all replicas until the assertion expires (RFC 7523 §3)."""
        jti, expires = claims.get("jti"), time_in(claims, "exp")
        if not isinstance(jti, str) or not jti:
            raise jose.JwtRefused("jti is missing, or is not a string")
        if expires is None:
            raise jose.JwtRefused("exp is missing")
        left = expires - evidence.request.now
        if left > MAX_LIFETIME + self.clock_skew:
            raise jose.JwtRefused("exp is too far away")
        key = digest(f"{evidence.client_id}\n{jti}")
        ttl = int(left) + self.clock_skew
        if client.is_anybodys:
            await self.room.take_for(client, MARKER, seconds=ttl, address=caller())
        if not await self.stores.is_first_use(self.stores.used_assertions, key, ttl=ttl):
            raise jose.JwtRefused("it has been used before")


def _read_assertion(request: RequestCredentials, *, is_by_secret: bool) -> Evidence | None:
    """Return the assertion if `alg` is of this kind (RFC 7518 §3.1); a malformed one counts as signed by a key."""
    assertion, alg, sub = request.params.get("client_assertion"), None, None
    if assertion is None:
        return None
    with suppress(jose.JwtRefused):
        alg = jose.unverified_header(assertion).get("alg")
        sub = jose.unverified_claims(assertion).get("sub")
    if (str(alg) in MAC_ALGORITHMS) != is_by_secret:
        return None
    client_id = sub if isinstance(sub, str) else ""
    return Evidence(client_id=client_id, proof=assertion, request=request)


def _log_refusal(client: Client, refused: jose.JwtRefused) -> None:
    log.info("client assertion refused", client_id=client.client_id, reason=str(refused))


def _verify_for_nobody(assertion: str, algorithms: Collection[str]) -> None:
    """Take as long for an unknown client's assertion as for a known one's."""
    try:
        header = accepted_header(assertion, algorithms=algorithms, typ=_TYP)
        alg = str(header["alg"])
        if alg in MAC_ALGORITHMS or header.get("kid") is None:
            jose.claims_signed_by(_key_of_nobody(alg), assertion)
    except jose.JwtRefused:
        return


@cache
def _key_of_nobody(alg: str) -> jose.Key:
    if alg in MAC_ALGORITHMS:
        return jose.Key.from_secret(token_urlsafe(MAC_ALGORITHMS[alg]), alg)
    if alg.startswith(("RS", "PS")):
        return jose.Key.load(_RSA_OF_NOBODY, alg)  # to generate one takes too long
    return jose.Key.generate(alg)
