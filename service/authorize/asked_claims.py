"""Which claims does the client ask for by name, and in which languages? (OIDC Core §5.2, §5.5)"""

from __future__ import annotations

from dataclasses import dataclass

from service.model.client import Client
from service.model.registry import Registry
from service.protocol.claim_names import parse_locales
from service.protocol.claims_request import ClaimsParameter, ClaimsRequest
from service.protocol.params import Params
from service.protocol.scope import OPENID
from service.tokens.claims import askable, claims_of_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedClaims:
    """Claims about the person, as far as the client may ask for them."""

    request: ClaimsRequest | None
    """What the authorization has to keep; mostly nothing."""
    beyond_scope: frozenset[str]
    """Names of those that no scope value of the request stands for."""
    at_userinfo: bool
    """Whether any at all are asked for there."""


def asked_claims(
    params: Params,
    parameter: ClaimsParameter,
    *,
    scope: frozenset[str],
    client: Client,
    registry: Registry,
) -> AskedClaims:
    """Hold the claims parameter against what the client may know; without openid it means nothing."""
    at_userinfo = bool(parameter.userinfo)
    request = ClaimsRequest(
        id_token=askable(registry, client, parameter.id_token),
        userinfo=askable(registry, client, parameter.userinfo),
        locales=parse_locales(params.get("claims_locales")),
    )
    beyond_scope = request.names.difference(claims_of_scope(registry, scope))
    if OPENID not in scope or request == ClaimsRequest():
        return AskedClaims(request=None, beyond_scope=frozenset(), at_userinfo=at_userinfo)
    return AskedClaims(request=request, beyond_scope=beyond_scope, at_userinfo=at_userinfo)
