"""authorization_code: redeems the code of an authorization response, once (RFC 6749 §4.1.3)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import ClassVar

from service.model.authorization import Authorization
from service.model.client import Client
from service.model.events import CodeReplayed, Emit
from service.model.handle import Handle, parse_handle
from service.model.one_time import AuthorizationCode, Spent
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidGrant, OAuthError
from service.protocol.params import Params
from service.store.stores import REPLAY_WINDOW, Stores
from service.tokens.audience import narrowed_resources
from service.tokens.granting import GrantResult, GrantSuccess, ScopeRule, Spending, TokenRequest
from service.tokens.revocation import Revocation


@dataclass(frozen=True, slots=True)
class AuthorizationCodeGrant:
    """Checks whose code it is and who may prove it; the issuer spends it."""

    grant_type: ClassVar[str] = "authorization_code"
    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_AUTHORIZATION
    registry: LiveRegistry
    stores: Stores
    revocation: Revocation
    emit: Emit

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant what was authorized; another client's attempt leaves the code unspent."""
        handle = parse_handle(request.params.require("code"), "authorization_code")
        if handle is None:
            return InvalidGrant("the code is not one of this service")
        code, authorization = await self.stores.kv.read(
            self.stores.codes.read(handle.selector, handle.digest),
            self.stores.authorizations.read(handle.selector),
        )
        if code is None or authorization is None:
            return InvalidGrant("the code is unknown, expired or revoked")
        if authorization.client_id != request.client.client_id:
            return InvalidGrant("the code was issued to another client")
        if isinstance(code, Spent):
            return await self._ended(authorization)
        spending = self._spending(handle, authorization, request.client, request.now)
        wrong = _mismatch(code, request.params)
        if wrong is not None:
            (before,) = await self.stores.kv.write(spending.swap, durable=True)
            return InvalidGrant(wrong) if spending.won(before) else await self._ended(authorization)
        return GrantSuccess(
            grant_type=self.grant_type,
            authorization=authorization,
            begins=False,
            resources=narrowed_resources(self.registry.current, authorization, request.resources),
            identifies=True,
            nonce=code.nonce,
            spends=spending,
        )

    def _spending(
        self, handle: Handle, authorization: Authorization, client: Client, now: int
    ) -> Spending:
        attempt = secrets.token_urlsafe(12)
        swap = self.stores.codes.spend(
            Spent(attempt=attempt, at=now),
            handle.selector,
            handle.digest,
            ttl=client.authorization_code_lifetime + REPLAY_WINDOW,
        )
        return Spending(
            swap=swap,
            won=lambda before: self.stores.codes.was_won(before, attempt=attempt),
            replayed=lambda: self._replayed(authorization),
        )

    async def _ended(self, authorization: Authorization) -> OAuthError:
        """The refusal of a code that came twice: nobody knows which of the two was the client's (RFC 6749 §4.1.2)."""
        await self.revocation.end_authorization(authorization.id)
        return self._replayed(authorization)

    def _replayed(self, authorization: Authorization) -> OAuthError:
        self.emit(CodeReplayed(client_id=authorization.client_id, subject=authorization.subject))
        return InvalidGrant("the code has been used")


def _mismatch(code: AuthorizationCode, params: Params) -> str | None:
    """What the code is bound to and the request does not match (RFC 6749 §4.1.3, RFC 7636 §4.6)."""
    if params.get("redirect_uri") != code.redirect_uri:
        return "redirect_uri is not the one of the authorization request"
    verifier = params.get("code_verifier")
    if code.code_challenge is None:
        return None if verifier is None else "code_verifier was sent where no challenge was made"
    if verifier is None or not code.code_challenge.verifies(verifier):
        return "code_verifier does not match the code_challenge"
    return None
