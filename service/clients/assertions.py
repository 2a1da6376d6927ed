"""A JWT by which a client says who it is: whose, signed by whom, for whom, how often (RFC 7523 §3)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from secrets import token_urlsafe

import structlog

from service.clients.keys import ClientKeys
from service.keys.algorithms import MAC_ALGORITHMS
from service.keys.foreign_keys import accepted_header
from service.keys.jose import (
    JwtRefused,
    Key,
    claims_signed_by,
    unverified_claims,
    unverified_header,
)
from service.keys.times import check_times, time_in
from service.model.client import Client
from service.model.credentials import CredentialSource, Presented
from service.model.handle import digest, new_selector
from service.store.stores import Stores

log = structlog.stdlib.get_logger(__name__)

ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
"""RFC 7523 §2.2."""

MAX_LIFETIME = 3600
"""Seconds; whoever asks for tokens signs when it asks, but widely used libraries sign for an hour."""

_NOBODYS_RSA = {"kty": "RSA", "n": "_" * 341 + "w", "e": "AQAB"}

_OF_A_REQUEST_OBJECT = frozenset({"client_id", "redirect_uri", "response_type", "scope"})
"""Claims of which an authorization request has at least one (RFC 9101 §4); a client assertion has none."""

_TYP = frozenset({"jwt", "client-authentication+jwt"})


def assertion_in(source: CredentialSource) -> Presented | None:
    """The assertion of a request, under the name that it claims (RFC 7521 §4.2)."""
    assertion = source.params.get("client_assertion")
    if assertion is None:
        return None
    return Presented(client_id=_claimed_name(assertion), proof=assertion, source=source)


def is_by_secret(assertion: str) -> bool:
    """Whether the assertion says that the client's secret has signed it (RFC 7518 §3.2)."""
    try:
        return str(unverified_header(assertion).get("alg")) in MAC_ALGORITHMS
    except JwtRefused:
        return False


def _claimed_name(assertion: str) -> str:
    """The `sub` that nobody has verified; nobody's name where there is none."""
    try:
        name = unverified_claims(assertion).get("sub")
    except JwtRefused:
        return ""
    return name if isinstance(name, str) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientAssertions:
    """Verifies the assertions of both methods that use them."""

    issuer: str
    token_endpoint: str
    """Its path; an assertion may be addressed to it wherever it is shown."""
    keys: ClientKeys
    stores: Stores
    clock_skew: int

    async def prove(
        self, presented: Presented, client: Client | None, *, algorithms: Collection[str]
    ) -> bool:
        """Whether the assertion is this client's, for this service, and shown for the first time."""
        if client is None:
            _take_as_long(presented.proof, algorithms)
            return False
        try:
            claims = await self._verified(presented, client, algorithms)
            await self._use_up(claims, presented)
        except JwtRefused as refused:
            log.info("client assertion refused", client_id=client.client_id, reason=str(refused))
            return False
        return True

    async def _verified(
        self, presented: Presented, client: Client, algorithms: Collection[str]
    ) -> Mapping[str, object]:
        source = presented.source
        if source.params.get("client_assertion_type") != ASSERTION_TYPE:
            raise JwtRefused("client_assertion_type is not that of a JWT")
        registered = client.metadata.get("token_endpoint_auth_signing_alg")
        accepted = [alg for alg in algorithms if registered in (None, alg)]
        claims = await self.keys.verify(presented.proof, client, algorithms=accepted, typ=_TYP)
        if (claims.get("iss"), claims.get("sub")) != (client.client_id, client.client_id):
            raise JwtRefused("iss and sub are not the client_id")
        if not _OF_A_REQUEST_OBJECT.isdisjoint(claims):
            raise JwtRefused("it is a request object, which every browser may have seen")
        self._check_audience(claims.get("aud"), source.endpoint)
        check_times(claims, now=source.now, clock_skew=self.clock_skew)
        return claims

    def _check_audience(self, audience: object, endpoint: str) -> None:
        """One value, so that no other server can use it here (draft-ietf-oauth-rfc7523bis §4)."""
        base = self.issuer.rstrip("/")
        ours = (self.issuer, base + self.token_endpoint, base + endpoint)
        if not any(audience in (one, [one]) for one in ours):
            raise JwtRefused("aud is not this service alone")

    async def _use_up(self, claims: Mapping[str, object], presented: Presented) -> None:
        """Remember the `jti` in all replicas for as long as the assertion counts (RFC 7523 §3)."""
        jti, expires = claims.get("jti"), time_in(claims, "exp")
        if not isinstance(jti, str) or not jti:
            raise JwtRefused("jti is missing, or no text")
        if expires is None:
            raise JwtRefused("exp is missing")
        left = expires - presented.source.now
        if left > MAX_LIFETIME + self.clock_skew:
            raise JwtRefused("exp is too far away")
        key = digest(f"{presented.client_id}\n{jti}")
        attempt, used = new_selector(), self.stores.used_assertions
        ttl = int(left) + self.clock_skew + 1
        (written,) = await self.stores.kv.write(used.put_new(attempt, key, ttl=ttl), durable=True)
        # Where the store's client has repeated the command, what is there already may be ours.
        if not written and await self.stores.kv.read(used.read(key)) != (attempt,):
            raise JwtRefused("it has been used before")


def _take_as_long(assertion: str, algorithms: Collection[str]) -> None:
    """Look at an unknown client's assertion as closely as at a known one's."""
    try:
        header = accepted_header(assertion, algorithms=algorithms, typ=_TYP)
        alg = str(header["alg"])
        if alg in MAC_ALGORITHMS or header.get("kid") is None:
            claims_signed_by(_nobodys_key(alg), assertion)
    except JwtRefused:
        return


@cache
def _nobodys_key(alg: str) -> Key:
    """A key that nobody signs with; one of RSA would take too long to make."""
    if alg in MAC_ALGORITHMS:
        return Key.of_secret(token_urlsafe(MAC_ALGORITHMS[alg]), alg)
    if alg.startswith(("RS", "PS")):
        return Key.load(_NOBODYS_RSA, alg)
    return Key.generate(alg)
