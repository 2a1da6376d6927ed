"""authorization_code: redeems the code of an authorization response, once (RFC 6749 §4.1.3)."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from service.events.tokens import CodeReplayed
from service.model.authorization import Authorization, AuthorizationCode, Spent, new_attempt
from service.model.handle import parse_handle
from service.model.registry import LiveRegistry
from service.protocol.errors import InvalidGrant, RefusedValue
from service.protocol.params import Params
from service.store.stores import REPLAY_WINDOW
from service.tokens.granting import GrantResult, ScopeRule, TokenRequest
from service.tokens.liveness import Revocation, SingleUse, unlist_code
from service.tokens.permitted import continue_authorization
from service.tokens.requested_access import continue_grant


class AuthorizationCodeGrant(msgspec.Struct, frozen=True):
    """Checks whose code it is; the issuer uses it up together with issuing the tokens."""

    scope_rule: ClassVar[ScopeRule] = ScopeRule.OF_AUTHORIZATION
    takes_authorization_details: ClassVar[bool] = True
    registry: LiveRegistry
    revocation: Revocation

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant what was authorized; another client's attempt does not use the code up."""
        handle = parse_handle(request.params.require("code"), "authorization_code")
        if handle is None:
            return InvalidGrant("the code is not one of this service")
        stores = self.revocation.stores
        code, authorization = await stores.kv.read(
            stores.codes.read(handle.selector, handle.digest),
            stores.authorizations.read(handle.selector),
        )
        if code is None or authorization is None:
            return InvalidGrant("the code is unknown, expired or revoked")
        if authorization.client_id != request.client.client_id:
            return InvalidGrant("the code was issued to another client")
        if isinstance(code, Spent):
            return await self.revocation.end_replayed(authorization, CodeReplayed)
        _check_binding(code, authorization, request)
        registry = self.registry.current
        permissions = registry.permissions_of(request.client)
        authorization = continue_authorization(authorization, permissions)
        marker = Spent(attempt=new_attempt(), at=request.now)
        ttl = request.client.authorization_code_lifetime + REPLAY_WINDOW
        single_use = SingleUse(
            swap=stores.codes.swap(marker, handle.selector, handle.digest, ttl=ttl),
            others=(unlist_code(stores, authorization, handle),),
            attempt=marker.attempt,
            replay=CodeReplayed,
        )
        mismatch = _find_mismatch(code, request.params)
        if mismatch is not None:
            (before,) = await stores.kv.write(single_use.swap, durable=True)
            if not single_use.was_won(before):
                mismatch = await self.revocation.end_replayed(authorization, CodeReplayed)
            return mismatch
        return continue_grant(
            authorization, request, registry, single_use=single_use, nonce=code.nonce
        )


def _check_binding(
    code: AuthorizationCode, authorization: Authorization, request: TokenRequest
) -> None:
    """Raise an error, with which the code stays unspent, unless client and key are still right."""
    if not request.client.has_redirect_uri(code.redirect_uri):
        message = "the redirect_uri of the authorization request is no longer registered"
        raise InvalidGrant(message, refused=RefusedValue("redirect_uri", code.redirect_uri))
    request.check_key(authorization.cnf, "code")


def _find_mismatch(code: AuthorizationCode, params: Params) -> InvalidGrant | None:
    """Return the refusal if the request does not match the code (RFC 6749 §4.1.3, RFC 7636 §4.6).

    A verifier that is too short is a wrong one; one that is too long was refused with all parameters over their limits.
    """
    redirect_uri, verifier = params.get("redirect_uri"), params.get("code_verifier")
    if redirect_uri != code.redirect_uri:
        fault = "is missing: it has to be" if redirect_uri is None else "is not"
        message = f"redirect_uri {fault} the one of the authorization request"
        return InvalidGrant(message, refused=RefusedValue("redirect_uri", redirect_uri))
    if code.code_challenge is None:
        if verifier is None:
            return None
        return InvalidGrant("code_verifier was sent where no challenge was made")
    if verifier is None or not code.code_challenge.verifies(verifier):
        fault = "is missing: it has to match" if verifier is None else "does not match"
        return InvalidGrant(f"code_verifier {fault} the code_challenge")
    return None
