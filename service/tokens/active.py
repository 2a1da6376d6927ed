"""When a token is active: the one place that decides it (RFC 7662 §2.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import cast

import msgspec

from service.clients.directory import Clients
from service.keys.jose import (
    JwtRefused,
    VerifiedClaims,
    looks_like_jwt,
    require_claims,
    verify,
)
from service.keys.keyring import KeyRing
from service.model.authorization import DELEGATION, Authorization
from service.model.client import Permissions
from service.model.confirmation import Confirmation, read_confirmation
from service.model.handle import Handle, parse_handle
from service.model.one_time import RefreshToken, Spent
from service.model.user import LOCAL, UserStore
from service.protocol.errors import InvalidGrant
from service.protocol.scope import format_scope, split_scope
from service.store.stores import Stores
from service.tokens.family import is_of_family
from service.tokens.permitted import (
    actors_in,
    continued,
    missing_permission,
    permitted_scope,
    refreshable,
)

ACCESS_TOKEN_TYPES = frozenset({"at+jwt", "application/at+jwt"})
"""What `typ` says in the header of a JWT access token (RFC 9068 §2.1)."""

_CLAIM_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "aud": (str, list),
    "client_id": str,
    "exp": int,
    "jti": str,
    "sub": str,
}
_SELECTOR_LENGTH = 16
_BOUND_JTI_LENGTH = 38


class ActiveToken(msgspec.Struct, frozen=True, kw_only=True):
    """A token that is good now, with the claims it stands for."""

    claims: VerifiedClaims
    reference: Handle | None
    """The handle where it is a reference token; None for a JWT."""
    authorization: Authorization | None
    """None where a client acts for itself."""
    scope: frozenset[str]
    """What is still allowed of the token's scope; its claims say the same."""
    cnf: Confirmation | None
    """The key that its sender has to prove possession of; None for a bearer token."""

    @property
    def name(self) -> str:
        """What the token is called in an index: the handle's digest, or the `jti`."""
        return self.reference.digest if self.reference else str(self.claims["jti"])

    @property
    def selector(self) -> str:
        """Under what its records are kept."""
        if self.reference is not None:
            return self.reference.selector
        return selector_of(str(self.claims["jti"]))

    @property
    def audience(self) -> tuple[str, ...]:
        """The API resources it is for."""
        audience = self.claims["aud"]
        return (audience,) if isinstance(audience, str) else tuple(cast("list[str]", audience))

    @property
    def subject(self) -> str | None:
        """The user's `sub`, or None where no user is involved."""
        return None if self.authorization is None else self.authorization.subject

    @property
    def expires_at(self) -> int:
        """Seconds since the epoch."""
        return cast("int", self.claims["exp"])


class ActiveRefreshToken(msgspec.Struct, frozen=True, kw_only=True):
    """A refresh token that could be used now."""

    handle: Handle
    authorization: Authorization
    """With the scope that is still allowed."""
    record: RefreshToken


class Inactive(msgspec.Struct, frozen=True):
    """Why a token is not active; for the log and the operator, never for the caller."""

    reason: str


_DISABLED = "its client or user is disabled or unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActiveTokens:
    """Finds tokens of ours and says whether they are active, in one round trip."""

    issuer: str
    keys: KeyRing
    stores: Stores
    clients: Clients
    users: UserStore
    now: Callable[[], int]

    async def find(self, token: str) -> ActiveToken | None:
        """The access token if it is active, reference and JWT alike."""
        found = await self.examine(token)
        return found if isinstance(found, ActiveToken) else None

    async def examine(self, token: str) -> ActiveToken | Inactive:
        """The access token, or the first check that it fails."""
        found = await self._not_ended(token)
        if isinstance(found, Inactive):
            return found
        client_id, authorization = str(found.claims["client_id"]), found.authorization
        own = self.clients.permissions_in_file(client_id)
        own = own or await self.clients.find_permissions(client_id)
        if own is None or not await self._is_of_active_user(authorization):
            return Inactive(_DISABLED)
        if authorization is None or (
            authorization.client_id == client_id and "act" not in found.claims
        ):
            missing = missing_permission(authorization, own)
        else:
            missing = await self._missing_at_a_source(found.claims, authorization, own)
        return _narrowed(found, own) if missing is None else Inactive(missing)

    async def find_to_revoke(self, token: str) -> ActiveToken | None:
        """The access token unless it has ended; one of a disabled user may be enabled again."""
        found = await self._not_ended(token)
        return found if isinstance(found, ActiveToken) else None

    async def find_grant_to_revoke(self, refresh_token: str) -> Authorization | None:
        """What a refresh token came from, also where another one has taken its place."""
        handle = parse_handle(refresh_token, "refresh_token")
        if handle is None:
            return None
        record, authorization = await self.stores.kv.read(
            self.stores.refresh_tokens.read(handle.selector, handle.digest),
            self.stores.authorizations.read(handle.selector),
        )
        if authorization is None or (record is None and not is_of_family(handle, authorization)):
            return None
        return authorization

    async def find_refresh_token(self, token: str) -> ActiveRefreshToken | None:
        """The refresh token if it could be used now."""
        found = await self.examine_refresh_token(token)
        return found if isinstance(found, ActiveRefreshToken) else None

    async def examine_refresh_token(self, token: str) -> ActiveRefreshToken | Inactive:
        """The refresh token, or the first check that it fails."""
        handle = parse_handle(token, "refresh_token")
        if handle is None:
            return Inactive("it is not a refresh token of this service")
        record, authorization = await self.stores.kv.read(
            self.stores.refresh_tokens.read(handle.selector, handle.digest),
            self.stores.authorizations.read(handle.selector),
        )
        if authorization is None:
            return Inactive("its authorization has ended")
        if record is None and not is_of_family(handle, authorization):
            return Inactive("its record is gone: it expired, or never was")
        if record is None or isinstance(record, Spent):
            return Inactive("it was used, and another one took its place")
        permitted = await self._permitted_to_refresh(authorization)
        if isinstance(permitted, Inactive):
            return permitted
        return ActiveRefreshToken(handle=handle, authorization=permitted, record=record)

    async def _not_ended(self, token: str) -> ActiveToken | Inactive:
        handle = parse_handle(token, "access_token")
        if handle is None:
            if looks_like_jwt(token):
                return await self._jwt(token)
            return Inactive("it is not an access token of this service")
        claims, authorization = await self.stores.kv.read(
            self.stores.access_tokens.read(handle.selector, handle.digest),
            self.stores.authorizations.read(handle.selector),
        )
        if claims is None:
            return Inactive("its record is gone: it expired, was revoked, or never was")
        if is_bound(str(claims["jti"])) and authorization is None:
            return Inactive("its authorization has ended")
        return _active_token(VerifiedClaims(claims), handle, authorization)

    async def _jwt(self, token: str) -> ActiveToken | Inactive:
        try:
            claims = verify(token, self.keys.find, typ=ACCESS_TOKEN_TYPES)
            require_claims(claims, _CLAIM_TYPES)
        except JwtRefused as refused:
            return Inactive(str(refused))
        if claims.get("iss") != self.issuer:
            return Inactive("another issuer made it")
        if cast("int", claims["exp"]) <= self.now():
            return Inactive("it has expired")
        jti = str(claims["jti"])
        selector = selector_of(jti)
        revoked, authorization = await self.stores.kv.read(
            self.stores.revoked.read(selector, jti), self.stores.authorizations.read(selector)
        )
        if revoked is not None:
            return Inactive("it was revoked")
        if is_bound(jti) and authorization is None:
            return Inactive("its authorization has ended")
        return _active_token(claims, None, authorization)

    async def _permitted_to_refresh(self, authorization: Authorization) -> Authorization | Inactive:
        permissions = await self.clients.find_permissions(authorization.client_id)
        if permissions is None or not await self._is_of_active_user(authorization):
            return Inactive(_DISABLED)
        try:
            return refreshable(authorization, permissions)
        except InvalidGrant as refused:
            return Inactive(refused.description)

    async def _missing_at_a_source(
        self, claims: VerifiedClaims, authorization: Authorization, own: Permissions
    ) -> str | None:
        """Return which permission was lost by a client that the token came by, if any."""
        if claims.get("amr") == [DELEGATION] and DELEGATION not in own.grant_types:
            return "its client may no longer delegate"
        for actor in actors_in(claims.get("act"), authorization.act):
            if await self.clients.find_permissions(actor) is None:
                return _DISABLED
        first = await self.clients.find_permissions(authorization.client_id)
        if first is None:
            return _DISABLED
        try:
            continued(authorization, first)
        except InvalidGrant as refused:
            return refused.description
        return None

    async def _is_of_active_user(self, authorization: Authorization | None) -> bool:
        if authorization is None or authorization.subject is None or authorization.idp is None:
            return True
        if authorization.idp != LOCAL:
            return authorization.idp in self.clients.registry.current.identity_providers
        user = await self.users.by_subject(authorization.subject)
        return user is not None and user.enabled


def _active_token(
    claims: VerifiedClaims, reference: Handle | None, authorization: Authorization | None
) -> ActiveToken | Inactive:
    try:
        cnf = read_confirmation(claims["cnf"]) if "cnf" in claims else None
    except ValueError:
        return Inactive("it is bound to a key in a way that this release does not know")
    return ActiveToken(
        claims=claims,
        reference=reference,
        authorization=authorization,
        scope=split_scope(str(claims.get("scope", ""))),
        cnf=cnf,
    )


def _narrowed(token: ActiveToken, permissions: Permissions) -> ActiveToken | Inactive:
    """Return the token with the scope that its client is still allowed."""
    scope = permitted_scope(token.scope, permissions)
    if scope is None:
        return Inactive("its client is no longer allowed any of its scope")
    if scope is token.scope:
        return token
    claims = VerifiedClaims({**token.claims, "scope": format_scope(scope)})
    return msgspec.structs.replace(token, scope=scope, claims=claims)


def is_bound(jti: str) -> bool:
    """Whether a token's `jti` begins with the id of an authorization that it lives and dies with."""
    return len(jti) == _BOUND_JTI_LENGTH


def selector_of(jti: str) -> str:
    """Under what the records about a token are kept, told from its `jti`."""
    return jti[:_SELECTOR_LENGTH]
