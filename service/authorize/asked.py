"""The claims and authentication contexts that a client asks for (OIDC Core §3.1.2.1, §5.2, §5.5)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from service.model.client import Client
from service.model.registry import Registry
from service.model.session import Session
from service.protocol.claim_names import parse_locales
from service.protocol.claims_request import ClaimsParameter, ClaimsRequest
from service.protocol.params import Params
from service.protocol.scope import OPENID
from service.tokens.claims import askable, claims_of_scope


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedAcr:
    """The authentication contexts asked for, the best one first; empty if any will do."""

    values: tuple[str, ...]
    essential: bool = False
    """Whether a sign-in that meets none of them is refused (OIDC Core §5.5.1.1)."""
    or_any: bool = False
    """Whether tokens name the session's own context if it meets none of them."""

    def met_by(self, session: Session, registry: Registry) -> str | None:
        """Return the first one that the session's sign-in meets."""
        met = registry.acr_met(session.methods, self.values, acr=session.acr)
        if met is None and self.or_any:
            return registry.acr_met(session.methods, acr=session.acr)
        return met


def asked_acr(acr_values: Collection[str], parameter: ClaimsParameter) -> AskedAcr:
    """Combine acr_values with the claims parameter, which counts first if it names values."""
    claim = parameter.acr
    if claim is None:
        return AskedAcr(values=tuple(acr_values))
    decides = claim.essential or bool(claim.values)
    return AskedAcr(
        values=parameter.acr_values if decides else tuple(acr_values),
        essential=claim.essential,
        or_any=not claim.essential,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedClaims:
    """Claims about the user, as far as the client may ask for them."""

    request: ClaimsRequest | None = None
    """What the authorization has to keep; mostly nothing."""
    beyond_scope: frozenset[str] = frozenset()
    """The names of those that no scope value of the request stands for."""
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
    """Return the claims that the client may know; without openid the parameter means nothing."""
    at_userinfo = bool(parameter.userinfo)
    request = ClaimsRequest(
        id_token=askable(registry, client, parameter.id_token),
        userinfo=askable(registry, client, parameter.userinfo),
        locales=parse_locales(params.get("claims_locales")),
    )
    if OPENID not in scope or request == ClaimsRequest():
        return AskedClaims(at_userinfo=at_userinfo)
    beyond_scope = request.names.difference(claims_of_scope(registry, scope))
    return AskedClaims(request=request, beyond_scope=beyond_scope, at_userinfo=at_userinfo)
