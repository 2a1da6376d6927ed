"""Verifies JWTs of trusted issuers, and finds the user here that each is about (RFC 7521 §5.2, RFC 7523 §3)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import cast

import msgspec

from service.clients.issuer_keys import IssuerKeys
from service.clock import clock
from service.events.event import Emit
from service.events.tokens import AssertionReplayed, AssertionUsed
from service.identity.providers.accounts import ProviderAccounts
from service.identity.providers.claims import find_linked_subject
from service.identity.providers.provider import ProviderUserRefused
from service.identity.sign_in import SignIn
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.keys.foreign_keys import (
    UNNAMED,
    accepted_header,
    audiences_of,
    check_times,
    read_sub,
    time_in,
)
from service.keys.jose import JwtRefused, VerifiedClaims, type_of, unverified_claims
from service.model.client import Client
from service.model.handle import digest
from service.model.registry import LiveRegistry
from service.model.trusted_issuer import TrustedIssuer
from service.model.user import UserStore
from service.protocol.claims import read_verifications
from service.protocol.path_aliases import NO_ALIASES, PathAliases
from service.protocol.paths import TOKEN
from service.protocol.templates import fill_template
from service.protocol.token_types import ID_JAG_TYP
from service.store.stores import Stores
from service.tokens.claims import without_protocol_claims
from service.tokens.permitted import find_actors

MAX_JTI_LENGTH = 256

MAX_DEPTH = 16
"""Levels of the claims; with more, nothing here could be encoded that holds them."""

ASSERTION_TYPES = frozenset({UNNAMED, "jwt", "authorization-grant+jwt"})
"""The `typ` headers of assertions (draft-ietf-oauth-rfc7523bis), in lower case."""


class ForeignAssertion(msgspec.Struct, frozen=True, kw_only=True):
    """A JWT of a trusted issuer that holds, and the user here that it is about.

    An authorization that comes from it takes `subject`, `idp` and `user_claims` as they are: then
    it is active as long as the issuer is configured and a user of the user store is enabled
    (`find_user_claims` in tokens/permitted.py).
    """

    issuer: TrustedIssuer
    claims: VerifiedClaims
    """Theirs, all of them."""
    subject: str
    idp: str
    user_claims: Mapping[str, object]
    """Ours: those that the issuer's `claims` name."""
    auth_time: int | None
    """When the user authenticated there, if the JWT says so."""
    expires_at: int
    """The end of the JWT's own life."""


class ForeignAssertions(msgspec.Struct, frozen=True, kw_only=True):
    """For every grant that accepts JWTs of others; each decides for itself how often one may be used."""

    issuer: str
    registry: LiveRegistry
    keys: IssuerKeys
    users: UserStore
    accounts: ProviderAccounts
    stores: Stores
    clock_skew: int
    emit: Emit
    aliases: PathAliases = NO_ALIASES

    async def verify(
        self, assertion: str, client: Client, *, typ: Collection[str] = ASSERTION_TYPES
    ) -> ForeignAssertion:
        """Return the assertion that this client presents; raise JwtRefused with the first check that it fails.

        `typ` are the accepted types in lower case; a type of ID-JAGs has issuers of its own. The same assertion is accepted again and again:
        where it may be used once only, call `use_up` when everything else has been checked.
        """
        found = await self.check(assertion, typ=typ)
        if not found.issuer.allows_client(client.client_id):
            raise JwtRefused("its issuer is not trusted for this client")
        return found

    async def check(
        self, assertion: str, *, typ: Collection[str] = ASSERTION_TYPES
    ) -> ForeignAssertion:
        """Check the assertion without regard to the client that presents it."""
        header = accepted_header(assertion, algorithms=SIGNING_ALGORITHMS, typ=typ)
        iss, id_jag = unverified_claims(assertion).get("iss"), type_of(header) == ID_JAG_TYP
        issuer = self.registry.current.find_trusted_issuer(iss, id_jag=id_jag)
        if issuer is None:
            raise JwtRefused("its issuer is not a trusted one, or not for JWTs of this type")
        if header["alg"] not in issuer.algorithms:
            raise JwtRefused("its signature algorithm is not accepted from this issuer")
        claims = await self.keys.verify(assertion, header, issuer)
        if _is_deeper(claims, MAX_DEPTH):
            raise JwtRefused(f"its claims are nested more than {MAX_DEPTH} levels deep")
        self._check_audience(claims.get("aud"), issuer)
        expires_at, auth_time = self._check_lifetime(claims, issuer), _read_auth_time(claims)
        who = await self._find_user(claims, issuer)
        return ForeignAssertion(
            issuer=issuer,
            claims=claims,
            subject=who.subject,
            idp=who.idp,
            user_claims=who.user_claims,
            auth_time=auth_time,
            expires_at=expires_at,
        )

    async def use_up(self, assertion: ForeignAssertion, client: Client) -> None:
        """Remember the `jti` in all replicas until the assertion expires; raise JwtRefused at the second time (RFC 7523 §3)."""
        client_id, issuer = client.client_id, assertion.issuer
        ttl = assertion.expires_at - clock() + self.clock_skew
        used, key = self.stores.used_assertions, _find_key(assertion)
        if not await self.stores.is_first_use(used, key, ttl=ttl):
            self.emit(AssertionReplayed(client_id=client_id, issuer=issuer.name))
            raise JwtRefused("it has been used before")
        subject = assertion.subject
        self.emit(AssertionUsed(client_id=client_id, issuer=issuer.name, subject=subject))

    async def is_unused(self, assertion: ForeignAssertion) -> bool:
        """Return whether `use_up` would accept it now; raise JwtRefused if it has no `jti`."""
        (used,) = await self.stores.kv.read(self.stores.used_assertions.read(_find_key(assertion)))
        return used is None

    def _check_audience(self, aud: object, issuer: TrustedIssuer) -> None:
        """Raise unless this service is in the audience, and alone there if it is an ID-JAG."""
        if issuer.id_jag:
            if aud not in (self.issuer, [self.issuer]):
                raise JwtRefused("aud is not the issuer of this service alone")
            return
        named = audiences_of(aud)
        base = self.issuer.rstrip("/")
        usual = (self.issuer, *[base + path for path in self.aliases.paths_of(TOKEN)])
        ours = (issuer.audience,) if issuer.audience else usual
        if not any(one in ours for one in named):
            raise JwtRefused("this service is not in its aud")

    def _check_lifetime(self, claims: VerifiedClaims, issuer: TrustedIssuer) -> int:
        """Return when it expires; raise if that is not now and not soon after it was issued."""
        expires, issued = time_in(claims, "exp"), time_in(claims, "iat")
        if expires is None or issued is None:
            raise JwtRefused("exp or iat is missing")
        check_times(claims, now=clock(), clock_skew=self.clock_skew)
        if expires - issued > issuer.max_lifetime:
            raise JwtRefused("it lives longer than its issuer's may")
        return int(expires)

    async def _find_user(self, claims: VerifiedClaims, issuer: TrustedIssuer) -> SignIn:
        """Return who the user is here; raise if it is a user whom the issuer may not speak about."""
        sub = read_sub(claims)
        if issuer.identity_provider is not None:
            return await self._find_user_of_provider(claims, issuer, sub)
        try:
            subject = fill_template(issuer.subject_template, claims)
        except ValueError as error:
            raise JwtRefused(str(error)) from error
        who = _sign_in(subject, issuer.name, claims, issuer)
        user = await self.users.by_subject(subject)
        if user is None:
            return who
        if not issuer.existing_user:
            raise JwtRefused("its subject is a user of this service")
        return self.accounts.sign_in_to(user, who, {})

    async def _find_user_of_provider(
        self, claims: VerifiedClaims, issuer: TrustedIssuer, sub: str
    ) -> SignIn:
        """Return the user as a sign-in at the identity provider finds one."""
        name, theirs = issuer.identity_provider or "", read_verifications(claims)
        provider = self.registry.current.identity_providers.get(name)
        if provider is None or not provider.allows_user(theirs):
            raise JwtRefused("its user meets none of allowed_claims of the identity provider")
        who = _sign_in(find_linked_subject(provider, sub), name, claims, issuer)
        try:
            return await self.accounts.link(provider, who, theirs, subject=sub)
        except ProviderUserRefused as error:
            raise JwtRefused(str(error)) from error


def _sign_in(subject: str, idp: str, claims: VerifiedClaims, issuer: TrustedIssuer) -> SignIn:
    now, mapped = clock(), _map_claims(claims, issuer)
    return SignIn(subject=subject, idp=idp, amr=(), auth_time=now, user_claims=mapped)


def _is_deeper(value: object, levels: int) -> bool:
    below: Iterable[object] = ()
    if isinstance(value, dict):
        below = cast("dict[str, object]", value).values()
    elif isinstance(value, list):
        below = cast("list[object]", value)
    return levels < 0 or any(_is_deeper(member, levels - 1) for member in below)


def _read_auth_time(claims: VerifiedClaims) -> int | None:
    """Return a time between the epoch and now, None if the claim is missing; JwtRefused if it is not a number."""
    auth_time = time_in(claims, "auth_time")
    return None if auth_time is None else int(max(0, min(auth_time, clock())))


def _find_key(assertion: ForeignAssertion) -> str:
    """Return the key under which its use is remembered; raise JwtRefused if it has no `jti`."""
    jti = assertion.claims.get("jti")
    if not isinstance(jti, str) or not 0 < len(jti) <= MAX_JTI_LENGTH:
        raise JwtRefused(f"jti is not a text of 1 to {MAX_JTI_LENGTH} characters")
    # No client_id begins with a line break: assertions that authenticate clients have other keys.
    return digest(f"\n{assertion.issuer.issuer}\n{jti}")


def _map_claims(claims: VerifiedClaims, issuer: TrustedIssuer) -> Mapping[str, object]:
    named = issuer.claims.items()
    return read_verifications(
        without_protocol_claims(
            {ours: claims[theirs] for theirs, ours in named if theirs in claims}
        )
    )


def find_act(assertion: ForeignAssertion) -> Mapping[str, object] | None:
    """Return the assertion's `act`, without which a new token would hide the actors; each is named with the issuer (RFC 8693 §4.1).

    JwtRefused if one has no name.
    """
    if "act" not in assertion.claims:
        return None
    actors = [*find_actors(assertion.claims["act"], None)]
    if not actors or not all(map(_names_party, actors)):
        raise JwtRefused("its act does not name each party that acts")
    named: dict[str, object] | None = None
    for actor in reversed(actors):
        within = {} if named is None else {"act": named}
        named = {"iss": assertion.issuer.issuer, **actor} | within
    return named


def _names_party(actor: Mapping[str, object]) -> bool:
    return isinstance(actor.get("sub"), str) and isinstance(actor.get("act", {}), dict)
