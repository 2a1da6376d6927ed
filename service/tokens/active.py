"""Decides whether a token is active: the only place that does (RFC 7662 §2.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping
from contextlib import suppress
from typing import cast

import msgspec

from service.clients.directory import Clients
from service.clock import clock
from service.keys.jose import (
    JwtRefused,
    VerifiedClaims,
    looks_like_jwt,
    require_claims,
    unverified_header,
    verify,
)
from service.keys.keyring import KeyRing
from service.model.authorization import (
    Authorization,
    Confirmation,
    RefreshToken,
    Source,
    Spent,
    read_confirmation,
)
from service.model.client import Permissions
from service.model.handle import Handle, parse_handle, parse_refresh_token
from service.model.user import TokenUsers
from service.protocol.authorization_details import PARAMETER, Detail, put_details
from service.protocol.errors import InvalidGrant
from service.protocol.scope import format_scope, gives_access, split_scope
from service.store.stores import Stores
from service.store.tracking import Kept
from service.store.verbs import Read
from service.tokens.liveness import (
    ask_end,
    drop,
    find_session,
    find_source,
    is_ended,
    keep_known,
)
from service.tokens.permitted import (
    check_derived,
    check_permissions,
    continue_authorization,
    continue_by_refresh_token,
    find_permissions,
    permitted_details,
    permitted_scope,
)
from service.tokens.refresh_token import ActiveRefreshToken, is_of_family
from service.tokens.taken_over import find_authorization, read_claims

ACCESS_TOKEN_TYPES = frozenset({"at+jwt", "jwt"})
"""The `typ` header of a JWT access token (RFC 9068 §2.1); ID tokens are of the second one, too, and lack some of the claims below."""

_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "aud": (str, list),
    "client_id": str,
    "exp": int,
    "jti": str,
    "sub": str,
}
_Found = tuple[Mapping[str, object] | bool | None, Authorization | None, tuple[Kept, ...]]
"""The claims of a reference token, or that a JWT is revoked; the authorization; the entries if both were kept in this process."""

_SELECTOR_LENGTH = 16
_BOUND_JTI_LENGTH = 38


class ActiveToken(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """An active access token with its claims."""

    claims: VerifiedClaims
    name: str
    """The token's name in an index: the handle's digest, or the `jti`."""
    selector: str
    """The part of their keys that its records share."""
    authorization: Authorization | None
    """None if the client acts for itself."""
    scope: frozenset[str]
    """The part of the token's scope that is still allowed, as in its claims."""
    cnf: Confirmation | None
    """The key that its sender has to prove possession of; None for a bearer token."""
    kept: tuple[Kept, ...] = ()
    """The places of all that was read of it, which tell when that changes; none unless all of it was kept in this process."""

    @property
    def audience(self) -> tuple[str, ...]:
        """The names or URLs of the API resources that it is for."""
        audience = self.claims["aud"]
        return (audience,) if isinstance(audience, str) else tuple(cast("list[str]", audience))

    @property
    def authorization_details(self) -> tuple[Detail, ...]:
        """The permissions beyond its scope (RFC 9396 §9)."""
        return tuple(cast("list[Detail]", self.claims.get(PARAMETER, ())))

    @property
    def subject(self) -> str | None:
        """The user's `sub`; None if no user is involved."""
        return None if self.authorization is None else self.authorization.subject

    @property
    def expires_at(self) -> int:
        return cast("int", self.claims["exp"])


class Inactive(Exception):
    """A token is not active; the message is for the log and the operator, never for the caller."""


class ActiveTokens(msgspec.Struct, frozen=True, kw_only=True):
    """Finds active tokens; each look-up is one round trip to the store."""

    issuer: str
    keys: KeyRing
    stores: Stores
    clients: Clients
    users: TokenUsers

    async def find(self, token: str) -> ActiveToken | None:
        """Return the access token if it is active, a reference token and a JWT alike."""
        try:
            return await self.check(token)
        except Inactive:
            return None

    async def check(self, token: str) -> ActiveToken:
        """Return the access token; raise Inactive with the first check that it fails."""
        presented = self._read(token)
        found = _make_token(presented, await self._find_records(presented))
        client_id, authorization = str(found.claims["client_id"]), found.authorization
        try:
            if authorization is not None and authorization.source is not None:  # nearly none
                await self.check_source(authorization.source)
            own = await find_permissions(self.clients, self.users, client_id, authorization)
            if authorization is None or (
                authorization.client_id == client_id and "act" not in found.claims
            ):
                check_permissions(authorization, own)
            else:
                await check_derived(self.clients, self.users, found.claims, authorization, own)
        except InvalidGrant as refused:
            raise Inactive(refused.description) from refused
        scope = permitted_scope(found.scope, own)
        if scope is None:
            raise Inactive("its client is no longer allowed any of its scope")
        if authorization is not None and authorization is presented.granted:
            await self._take_over(authorization, ttl=found.expires_at - clock())
        if PARAMETER in found.claims:
            return _cut_details(found, scope, own)
        if scope is found.scope:
            return found
        claims = VerifiedClaims({**found.claims, "scope": format_scope(scope)})
        return msgspec.structs.replace(found, scope=scope, claims=claims)

    async def _take_over(self, granted: Authorization, *, ttl: int) -> None:
        """Keep what a user granted at the server before, to be listed and ended as if it were granted here; raise Inactive if it was ended."""
        stores, subject = self.stores, str(granted.subject)
        *_, of_all, of_client = await stores.kv.write(
            *keep_known(stores, granted, ttl=ttl),
            ask_end(stores, subject),
            ask_end(stores, subject, granted.client_id),
        )
        ends = (of_all, of_client)
        if any(is_ended(stores, end, since=granted.created_at) for end in ends):
            await stores.kv.write(*drop(stores, granted))
            raise Inactive("the access of its user, or of its client to it, has ended")

    async def find_to_derive_from(self, token: str) -> ActiveToken | None:
        """Return the access token if others may be made of it: it is active, and none for the admin API, which goes no further."""
        found, admin = await self.find(token), self.clients.registry.current.admin
        if found is not None and admin is not None and admin.url in found.audience:
            return None
        return found

    async def find_to_revoke(self, token: str) -> ActiveToken | None:
        """Return the access token, also of a disabled client or user: it may be enabled again."""
        with suppress(Inactive, InvalidGrant):
            presented = self._read(token)
            found = _make_token(presented, await self._find_records(presented))
            if found.authorization is not None:
                await find_source(self.stores, found.authorization.source)
            return found
        return None

    async def find_refresh_token(self, token: str) -> ActiveRefreshToken | None:
        with suppress(Inactive):
            return await self.check_refresh_token(token)
        return None

    async def check_refresh_token(self, token: str) -> ActiveRefreshToken:
        """Return the refresh token; raise Inactive with the first check that it fails."""
        handle = parse_refresh_token(token)
        if handle is None:
            raise Inactive("it is not a refresh token of this service")
        record, authorization = await self._read_refresh_token(handle)
        if authorization is None:
            raise Inactive("its authorization has ended")
        if record is None and not is_of_family(handle, authorization):
            raise Inactive("its record is gone: it expired, or never was")
        if record is None or isinstance(record, Spent):
            raise Inactive("it was used, and another one took its place")
        client_id = authorization.client_id
        try:
            await self.check_source(authorization.source)
            own = await find_permissions(self.clients, self.users, client_id, authorization)
            authorization = continue_by_refresh_token(authorization, own)
            await find_session(self.stores, authorization)
        except InvalidGrant as refused:
            raise Inactive(refused.description) from refused
        return ActiveRefreshToken(handle=handle, authorization=authorization, record=record)

    async def find_grant_to_revoke(self, refresh_token: str) -> Authorization | None:
        """Return the authorization of a refresh token, also of one that was rotated."""
        handle = parse_refresh_token(refresh_token)
        if handle is None:
            return None
        record, authorization = await self._read_refresh_token(handle)
        if authorization is None or (record is None and not is_of_family(handle, authorization)):
            return None
        return authorization

    async def _read_refresh_token(
        self, handle: Handle
    ) -> tuple[RefreshToken | Spent | None, Authorization | None]:
        return await self.stores.kv.read(
            self.stores.refresh_tokens.read(handle.selector, handle.digest),
            self.stores.authorizations.read(handle.selector),
        )

    def _read(self, token: str) -> _Presented:
        """Return what a token shows by itself; raise Inactive if it is not an access token, or a JWT that has expired or was made elsewhere."""
        handle = parse_handle(token, "access_token")
        if handle is not None:
            return _Presented(handle.selector, handle.digest, None)
        if not looks_like_jwt(token):
            raise Inactive("it is not an access token of this service")
        try:
            claims, foreign = verify(token, self.keys.find, typ=ACCESS_TOKEN_TYPES), False
            if self.keys.verify_only:
                foreign = str(unverified_header(token).get("kid")) in self.keys.verify_only
                claims = read_claims(claims, issuer=self.issuer) if foreign else claims
            require_claims(claims, _CLAIM_TYPES)
        except JwtRefused as refused:
            raise Inactive(str(refused)) from refused
        if claims.get("iss") != self.issuer:
            raise Inactive("another issuer made it")
        if cast("int", claims["exp"]) <= clock():
            raise Inactive("it has expired")
        jti = str(claims["jti"])
        granted = find_authorization(claims, selector_of(jti)) if foreign else None
        return _Presented(selector_of(jti), jti, claims, granted)

    def _find_records(self, presented: _Presented) -> Awaitable[_Found]:
        """Read the record of a reference token, or the revocation of a JWT, and the authorization."""
        stores, selector, name = self.stores, presented.selector, presented.name
        if presented.claims is None:
            own: Read[Mapping[str, object] | bool] = stores.access_tokens.read(selector, name)
        else:
            own = stores.revoked.read(selector, name)
        return stores.kv.read_tracked(own, stores.authorizations.read(selector))

    async def check_source(self, source: Source | None) -> None:
        """Raise InvalidGrant if the token that another one was exchanged for has ended, or its client lost a permission for it."""
        origin = await find_source(self.stores, source)
        if origin is not None:
            own = await find_permissions(self.clients, self.users, origin.client_id, origin)
            continue_authorization(origin, own)


class _Presented(msgspec.Struct, frozen=True, gc=False):
    """An access token as far as it shows by itself whether it is active."""

    selector: str
    name: str
    claims: VerifiedClaims | None
    """Those of a JWT; a reference token has them in its record."""
    granted: Authorization | None = None
    """The consent that the user of a token of the server before gave there; it is stored when the token is first found active."""


def _make_token(presented: _Presented, found: _Found) -> ActiveToken:
    """Return the token; raise Inactive if its own record, or its authorization, says that it has ended."""
    record, authorization, kept = found
    authorization, claims = authorization or presented.granted, presented.claims
    if claims is None:
        claims = _check_record(record)
    elif record is not None:
        raise Inactive("it was revoked")
    if is_bound(str(claims["jti"])) and authorization is None:
        raise Inactive("its authorization has ended")
    try:
        cnf = read_confirmation(claims["cnf"]) if "cnf" in claims else None
    except ValueError as error:
        raise Inactive("it is bound to a key in a way that is not known here") from error
    return ActiveToken(
        claims=claims,
        name=presented.name,
        selector=presented.selector,
        authorization=authorization,
        scope=split_scope(str(claims.get("scope", ""))),
        cnf=cnf,
        kept=kept,
    )


def _check_record(record: Mapping[str, object] | bool | None) -> VerifiedClaims:
    """Return the claims of a reference token; raise Inactive if they are gone, or have expired."""
    if record is None:
        raise Inactive("its record is gone: it expired, was revoked, or never was")
    claims = VerifiedClaims(cast("Mapping[str, object]", record))
    if cast("int", claims["exp"]) <= clock():  # Redis may tell up to a second later
        raise Inactive("it has expired")
    return claims


def _cut_details(
    token: ActiveToken, scope: frozenset[str], permissions: Permissions
) -> ActiveToken:
    """Return the token with the scope and the details that are still allowed."""
    details = permitted_details(token.authorization_details, permissions)
    if not gives_access(scope, details):
        raise Inactive("its client is no longer allowed anything that it is for")
    claims = {**token.claims, "scope": format_scope(scope)}
    put_details(claims, details)
    return msgspec.structs.replace(token, scope=scope, claims=VerifiedClaims(claims))


def is_bound(jti: str) -> bool:
    """Return whether the `jti` begins with the id of an authorization that the token ends with."""
    return len(jti) == _BOUND_JTI_LENGTH


def selector_of(jti: str) -> str:
    """Return the part of their keys that the records about a token share."""
    return jti[:_SELECTOR_LENGTH]
