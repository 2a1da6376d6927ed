"""Continues an authorization that is in the store: by its code, by a poll, or by a refresh token (RFC 6749 §4.1.3, §6)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from service.model.authorization import Authorization
from service.model.registry import Registry
from service.protocol.authorization_details import narrow_details
from service.store.verbs import Command
from service.tokens.granting import ContinuedGrant, TokenRequest
from service.tokens.liveness import SingleUse
from service.tokens.permitted import require_access
from service.tokens.refresh_token import MintedRefreshToken
from service.tokens.scope import cut_scope, narrowed_resources


def continue_grant(
    authorization: Authorization,
    request: TokenRequest,
    registry: Registry,
    *,
    single_use: SingleUse | None,
    scope: frozenset[str] | None = None,
    issue_id_token: bool = True,
    nonce: str | None = None,
    refresh_token: MintedRefreshToken | None = None,
    session_use: Sequence[Command] = (),
    user_claims: Mapping[str, object] | None = None,
) -> ContinuedGrant:
    """Grant what is still allowed of an authorization, or less where the request asks for less; its whole scope by default."""
    details = narrow_details(authorization.authorization_details, request.authorization_details)
    scope = authorization.scope if scope is None else scope
    resources = narrowed_resources(
        registry, authorization, request.resources, scope=scope, details=details
    )
    require_access(cut_scope(registry, scope, resources), details)
    return ContinuedGrant(
        authorization=request.bind(authorization),
        scope=scope,
        resources=resources,
        authorization_details=details,
        issue_id_token=issue_id_token,
        single_use=single_use,
        nonce=nonce,
        refresh_token=refresh_token,
        session_use=tuple(session_use),
        user_claims=user_claims,
    )
