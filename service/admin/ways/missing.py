"""Names what keeps a client from getting tokens for an API: the conditions of the way that lacks the fewest."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from service.admin.ways.finding import (
    DIRECT,
    FOR_ADMIN,
    Sources,
    Way,
    delegation_sources,
    direct_grants,
)
from service.config.problem import nearest
from service.model.authorization import DELEGATION
from service.model.client import Client
from service.model.registry import Registry
from service.model.token_exchange import EVERY_CLIENT
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE


def missing_conditions(
    registry: Registry, ways: Iterable[Way], client_id: str, api: str, scope: str | None
) -> tuple[str, ...]:
    """Return the conditions that have to be met, at least one; `ways` are all of the registry."""
    unknown = [*find_unknown(registry, client_id, api, scope)]
    if unknown:
        return tuple(unknown)
    client = registry.clients[client_id]
    if not client.enabled:
        return ("the client is not enabled (enabled: false)",)
    if client.template and client_id not in registry.used_templates:
        return ("no rule of workload_issuers makes clients of this template",)
    wanted = registry.apis_by_identifier[api].scopes if scope is None else frozenset({scope})
    lacking: tuple[str, ...] = ()
    if client.allowed_scopes.isdisjoint(wanted):
        lacking = (f"allowed_scopes has no {' or '.join(sorted(wanted))}",)
    if not registry.admin_scopes.isdisjoint(wanted):
        return (*_for_admin(client), *lacking)
    sources = Sources(frozenset(), frozenset()) + ways
    each = (
        _direct(client, registry),
        _delegation(client, registry, sources),
        _exchange(client, registry, api, wanted),
    )
    return (*min(each, key=_distance), *lacking)


def _distance(missing: tuple[str, ...]) -> tuple[int, bool]:
    """Return how far a way is; of two alike, one whose grant the client has is nearer."""
    return len(missing), any(each.startswith("allowed_grant_types") for each in missing)


def find_unknown(
    registry: Registry, client_id: str, api: str | None, scope: str | None = None
) -> Iterator[str]:
    """Yield what is wrong with the names, each with the nearest right one."""
    if client_id not in registry.clients:
        yield f"there is no client {client_id}{_meant(client_id, registry.clients)}"
    if api is not None and api not in registry.apis_by_identifier:
        yield f"there is no API resource {api}{_meant(api, registry.api_resources)}"
    elif api is not None and scope is not None:
        known = registry.apis_by_identifier[api].scopes
        if scope not in known:
            yield f"the API {api} has no scope {scope}{_meant(scope, known)}"


def _meant(name: str, known: Iterable[str]) -> str:
    found = nearest(name, known)
    return f"; {found}" if found else ""


def _for_admin(client: Client) -> tuple[str, ...]:
    if client.allowed_grant_types & FOR_ADMIN:
        return ()
    return (f"allowed_grant_types has neither {' nor '.join(sorted(FOR_ADMIN))}",)


def _direct(client: Client, registry: Registry) -> tuple[str, ...]:
    if direct_grants(client, registry):
        return ()
    usual = " or ".join(sorted(DIRECT & {"authorization_code", "client_credentials"}))
    return (f"allowed_grant_types has no grant that begins an authorization, such as {usual}",)


def _delegation(client: Client, registry: Registry, sources: Sources) -> tuple[str, ...]:
    missing: list[str] = []
    if DELEGATION not in client.allowed_grant_types:
        missing.append("allowed_grant_types has no delegation")
    if delegation_sources(client, registry, sources) is None:
        of_api = f" for {client.api_resource}" if client.api_resource else ""
        missing.append(f"no client can get a user's token{of_api} that could be delegated")
    return tuple(missing)


def _exchange(
    client: Client, registry: Registry, api: str, wanted: frozenset[str]
) -> tuple[str, ...]:
    missing: list[str] = []
    if TOKEN_EXCHANGE not in client.allowed_grant_types:
        missing.append(f"allowed_grant_types has no {TOKEN_EXCHANGE}")
    fitting = [
        rule
        for rule in registry.token_exchange
        if {client.client_id, EVERY_CLIENT} & rule.clients
        and api in rule.audiences
        and rule.scopes & wanted
    ]
    if not fitting:
        missing.append(f"no rule of token_exchange lets it have {api}")
    elif not missing:
        missing.append(f"no subject token fits the rule at {fitting[0].position}")
    return tuple(missing)
