"""Explains whether the JWT of another issuer holds, and who or what it is about (RFC 7523 §3)."""

from __future__ import annotations

from service.cli.table import format_time
from service.clock import clock
from service.identity.assertions import ASSERTION_TYPES, ForeignAssertion
from service.keys.jose import JwtRefused, unverified_claims
from service.model.credentials import RequestCredentials
from service.protocol.token_types import ID_JAG_TYP
from service.wiring.features import Features


async def explain_foreign(features: Features, token: str) -> dict[str, str] | None:
    """Explain a JWT that somebody else has issued; None if it is of no issuer of the configuration."""
    return await _explain_workload(features, token) or await _explain_assertion(features, token)


async def _explain_assertion(features: Features, token: str) -> dict[str, str] | None:
    """Return what the bearer grant would say of it, without using it up; None if no trusted issuer has its `iss`."""
    try:
        iss = unverified_claims(token).get("iss")
    except JwtRefused:
        return None
    issuers = features.shared.registry.current.trusted_issuers.values()
    names = [issuer.name for issuer in issuers if issuer.issuer == iss]
    if not names:
        return None
    facts = {"kind": "assertion (JWT) of a trusted issuer", "issuer": " or ".join(names)}
    try:
        found = await features.assertions.check(token, typ=ASSERTION_TYPES | {ID_JAG_TYP})
        first = await features.assertions.is_unused(found)
    except JwtRefused as refused:
        return facts | {"state": f"refused: {refused}"}
    state = "holds" if first else "refused: it has been used before"
    return facts | _describe(found) | {"state": state}


async def _explain_workload(features: Features, token: str) -> dict[str, str] | None:
    """Return which client or API a workload with this token is; None if it is of no issuer of `workload_issuers`."""
    request = RequestCredentials.of_assertion(token, endpoint="", now=clock())
    workloads = features.client_authentication.workloads
    presented = workloads.find(request)
    if presented is None:
        return None
    sub = str(presented.unverified_claims.get("sub"))
    facts = {"kind": "token of a workload (JWT)", "issuer": presented.issuer.name, "subject": sub}
    try:
        await workloads.verify(presented, request.now)
    except JwtRefused as refused:
        return facts | {"state": f"refused: {refused}"}
    if presented.workload is None:
        return facts | {"state": "refused: no rule fits"}
    rule, name = presented.workload
    party = {"client": name} if rule.api_resource is None else {"api_resource": name}
    template = {} if rule.template is None else {"template": rule.template}
    return facts | party | template | {"state": "holds"}


def _describe(found: ForeignAssertion) -> dict[str, str]:
    clients = " ".join(sorted(found.issuer.clients)) or "every one with the grant type"
    return {
        "issuer": found.issuer.name,
        "subject": found.subject,
        "clients": clients,
        "expires": format_time(found.expires_at),
    }
