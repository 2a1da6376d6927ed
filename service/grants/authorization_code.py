"""authorization_code: redeems the code of an authorization response, once (RFC 6749 §4.1.3)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import ClassVar

from service.model.authorization import Authorization
from service.model.client import Client
from service.model.events import Emit
from service.model.handle import Handle, parse_handle
from service.model.one_time import AuthorizationCode, Spent
from service.model.registry import LiveRegistry
from service.model.token_events import CodeReplayed
from service.protocol.errors import InvalidGrant, OAuthError
from service.protocol.params import Params
from service.protocol.refused_value import RefusedValue
from service.store.stores import REPLAY_WINDOW, Stores
from service.tokens.audience import narrowed_resources
from service.tokens.granting import GrantResult, GrantSuccess, ScopeRule, Spending, TokenRequest
from service.tokens.permitted import continued
from service.tokens.revocation import Revocation


@dataclass(frozen=True, slots=True)
class AuthorizationCodeGrant:
    """Checks whose code it is and who may prove it; the issuer spends it."""

    grant_type: ClassVar[str] = "authorization_code"
    is_registrable: ClassVar[bool] = True
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
        authorization = _permitted(code, authorization, request.client)
        spending = self._spending(handle, authorization, request.client, request.now)
        wrong = _mismatch(code, request.params)
        if wrong is not None:
            (before,) = await self.stores.kv.write(spending.swap, durable=True)
            return wrong if spending.won(before) else await self._ended(authorization)
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


def _permitted(
    code: AuthorizationCode, authorization: Authorization, client: Client
) -> Authorization:
    """Return what the client may still have of the authorization; InvalidGrant if that is nothing."""
    if not client.has_redirect_uri(code.redirect_uri):
        raise InvalidGrant(
            "the redirect_uri of the authorization request is no longer registered",
            refused=RefusedValue("redirect_uri", code.redirect_uri),
        )
    return continued(authorization, client.permissions)


def _mismatch(code: AuthorizationCode, params: Params) -> InvalidGrant | None:
    """Return the refusal if the request does not match the code (RFC 6749 §4.1.3, RFC 7636 §4.6)."""
    redirect_uri, verifier = params.get("redirect_uri"), params.get("code_verifier")
    if redirect_uri != code.redirect_uri:
        return InvalidGrant(
            "redirect_uri is not the one of the authorization request",
            refused=RefusedValue("redirect_uri", redirect_uri),
        )
    if code.code_challenge is None:
        if verifier is None:
            return None
        return InvalidGrant("code_verifier was sent where no challenge was made")
    if verifier is None or not code.code_challenge.verifies(verifier):
        return InvalidGrant("code_verifier does not match the code_challenge")
    return None
