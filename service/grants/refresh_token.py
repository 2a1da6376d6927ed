"""refresh_token: new tokens of an authorization, without its user (RFC 6749 §6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import msgspec

from service.events.tokens import RefreshTokenReused
from service.identity.sessions import Sessions
from service.model.authorization import Authorization, Confirmation, RefreshToken, Spent
from service.model.client import Client, Permissions
from service.model.handle import Handle, parse_refresh_token
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidGrant, InvalidScope
from service.tokens import refresh_token
from service.tokens.active import ActiveTokens
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest
from service.tokens.liveness import Revocation, SingleUse, find_session
from service.tokens.permitted import continue_by_refresh_token, find_permitted_claims
from service.tokens.refresh_token import (
    ActiveRefreshToken,
    MintedRefreshToken,
    is_of_family,
    open_claims,
    proves_key_of_used,
)
from service.tokens.requested_access import continue_grant
from service.tokens.target import Targets


class RefreshTokenGrant(msgspec.Struct, frozen=True):
    """Rotates the token, and ends the family when a used one comes again (RFC 9700 §4.14.2)."""

    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_AUTHORIZATION
    takes_authorization_details: ClassVar[bool] = True
    registry: LiveRegistry
    revocation: Revocation
    active_tokens: ActiveTokens
    sessions: Sessions
    targets: Targets

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant what was authorized, or less; another client's attempt does not use the token up."""
        handle = parse_refresh_token(request.params.require("refresh_token"))
        if handle is None:
            return InvalidGrant("the refresh token is not one of this service")
        stores = self.revocation.stores
        found, authorization = await stores.kv.read(
            stores.refresh_tokens.read(handle.selector, handle.digest),
            stores.authorizations.read(handle.selector),
        )
        if authorization is None or (found is None and not is_of_family(handle, authorization)):
            return InvalidGrant("the refresh token is unknown, expired or revoked")
        if authorization.client_id != request.client.client_id:
            return InvalidGrant("the refresh token was issued to another client")
        if authorization.source is not None:
            await self.active_tokens.check_source(authorization.source)
        record = _find_usable(found, request.client, now=request.now)
        if found is None or record is None:
            return await self._refuse_used(handle, authorization, request.cnf)
        _check_record(record, request)
        registry = self.registry.current
        permissions = registry.permissions_of(request.client)
        authorization = continue_by_refresh_token(authorization, permissions)
        session = await find_session(stores, authorization)
        token = ActiveRefreshToken(handle=handle, authorization=authorization, record=record)
        kept = open_claims(record, handle)
        if handle.is_loaded:
            kept = await self._find_claims(authorization, request.client, permissions)
        is_spent = found is not record
        single_use, following = self._rotate(token, request, kept, is_spent=is_spent)
        return continue_grant(
            authorization,
            request,
            registry,
            single_use=single_use,
            scope=_narrow_scope(authorization, request),
            issue_id_token=authorization.session_id is not None,
            refresh_token=following,
            session_use=() if session is None else self.sessions.note_use(session),
            user_claims=None if request.client.update_access_token_claims_on_refresh else kept,
        )

    async def _refuse_used(
        self, handle: Handle, authorization: Authorization, cnf: Confirmation | None
    ) -> InvalidGrant:
        """Return the refusal, and end the family unless the token is bound to a key that is not proven (RFC 9449 §5)."""
        if not proves_key_of_used(handle, authorization, cnf):
            return InvalidGrant(
                "the refresh token is bound to a key that the request does not prove"
            )
        return await self.revocation.end_replayed(authorization, RefreshTokenReused)

    async def _find_claims(
        self, authorization: Authorization, client: Client, permissions: Permissions
    ) -> Mapping[str, object]:
        """Return the claims that a family keeps, which for a loaded token are the user's present ones."""
        users = self.active_tokens.users
        claims = await find_permitted_claims(users, self.registry, authorization, permissions)
        return self.targets.claims_to_keep(authorization, client, claims)

    def _rotate(
        self,
        token: ActiveRefreshToken,
        request: TokenRequest,
        user_claims: Mapping[str, object],
        *,
        is_spent: bool,
    ) -> tuple[SingleUse | None, MintedRefreshToken]:
        """Return the family's next token: the same one, the same successor again, or a new one."""
        stores, client, now = self.revocation.stores, request.client, request.now
        is_reused = client.refresh_token_usage == "reuse" and not token.handle.is_loaded
        if is_reused and not is_spent:
            return None, refresh_token.keep(stores, token, client, cnf=request.cnf, now=now)
        following = refresh_token.rotate(
            stores, token, client, user_claims, cnf=request.cnf, now=now
        )
        if is_spent:
            return None, following
        return refresh_token.use_up(stores, token, client, now=now), following


def _find_usable(
    found: RefreshToken | Spent | None, client: Client, *, now: int
) -> RefreshToken | None:
    """Return the token's record; a spent one's only within the reuse interval."""
    if found is None or isinstance(found, RefreshToken):
        return found
    if now - found.at > client.refresh_token_reuse_interval:
        return None
    return found.refresh_token


def _check_record(record: RefreshToken, request: TokenRequest) -> None:
    if record.ends_at <= request.now:
        raise InvalidGrant("the refresh token is unknown, expired or revoked")
    request.check_key(record.cnf, "refresh token")


def _narrow_scope(authorization: Authorization, request: TokenRequest) -> frozenset[str] | None:
    """Return the scope asked for; None where all that was granted is."""
    if not request.scope <= authorization.scope:
        raise InvalidScope("scope is wider than what was granted and is still allowed")
    return request.scope or None
