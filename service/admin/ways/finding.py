"""Finds the ways in which clients can get access tokens for APIs, by the checks of the token endpoint."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from itertools import product
from typing import Literal, cast

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.config.registry import DELEGATION as DELEGATION_GRANT
from service.grants import BUILTIN_GRANTS
from service.grants.token_exchange.parameters import ExchangeRequest, PresentedToken
from service.grants.token_exchange.policy import find_access, find_rule
from service.model.authorization import DELEGATION
from service.model.client import Client
from service.model.registry import Registry
from service.model.token_exchange import EVERY_CLIENT, SELF, ExchangeCase, ExchangeRule
from service.protocol.errors import OAuthError
from service.protocol.params import Params
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE
from service.protocol.token_types import JWT_BEARER
from service.tokens.granting import TokenRequest
from service.tokens.requested_access import check_allowed

RulesByClient = Mapping[str, Collection[ExchangeRule]]
Kind = Literal["direct", "delegation", "exchange", "extension"]

CLIENT_CREDENTIALS, REFRESH_TOKEN = "client_credentials", "refresh_token"
BUILTIN = frozenset({*BUILTIN_GRANTS, "implicit"})
DIRECT = BUILTIN - {REFRESH_TOKEN, TOKEN_EXCHANGE}
"""The grants that begin an authorization with no token of this service."""
FOR_ADMIN = frozenset({"authorization_code", CLIENT_CREDENTIALS})
"""The grants that give tokens for the admin API."""
_FOR_APIS = ("access_token", "jwt", "refresh_token")
"""The types of tokens that give access to APIs, or lead to one that does."""


class Way(msgspec.Struct, frozen=True, kw_only=True):
    """A way in which one client can get access tokens for one API."""

    client_id: str
    api: str
    kind: Kind
    grant_types: tuple[str, ...]
    scope: frozenset[str]
    """The scope values of the API that the token can hold."""
    sources: tuple[str, ...] = ()
    """The APIs whose users' tokens can be exchanged; empty where the client needs none."""
    rule: str | None = None
    """File and line of the rule of token_exchange; None where the client's entry decides."""


class Sources(msgspec.Struct, frozen=True):
    """The users' tokens that clients can get, and so can present to be exchanged."""

    apis: frozenset[str]
    scope: frozenset[str]

    def __add__(self, ways: Iterable[Way]) -> Sources:
        found = [way for way in ways if way.grant_types != (CLIENT_CREDENTIALS,)]
        apis = self.apis.union(way.api for way in found)
        return Sources(apis, self.scope.union(*(way.scope for way in found)))


def find_entry(registry: Registry, client_id: str) -> str:
    """Return the client whose entry says what this one may do: the template of a client that a rule makes, else itself."""
    if client_id in registry.clients:
        return client_id
    return registry.find_template(client_id) or client_id


def find_api(registry: Registry, name: str) -> str:
    """Return the name of the API that is named so, or whose URL this is; another text as it is."""
    api = registry.find_api(name)
    return name if api is None else api.name


def find_ways(registry: Registry) -> tuple[Way, ...]:
    """Return every way of every enabled client, in the order of the file; of a template only where a rule makes clients of it."""
    used = registry.used_templates
    clients = [
        client
        for client in registry.clients.values()
        if client.enabled and (not client.template or client.client_id in used)
    ]
    allowed, rules = AllowedScopes(registry), _rules_by_client(registry)
    began = {
        client.client_id: [*_keep_admitted(_begun_ways(client, registry, allowed), registry)]
        for client in clients
    }
    exchanging = [
        each for each in clients if {DELEGATION, TOKEN_EXCHANGE} & each.allowed_grant_types
    ]
    sources = Sources(frozenset(), frozenset()) + (way for ways in began.values() for way in ways)
    while True:  # what is got by an exchange can be exchanged again
        derived = {
            client.client_id: [
                *_keep_admitted(_delegated_ways(client, registry, allowed, sources), registry),
                *_keep_admitted(
                    _exchanged_ways(client, allowed, rules, sources, began[client.client_id]),
                    registry,
                ),
            ]
            for client in exchanging
        }
        more = sources + (way for ways in derived.values() for way in ways)
        if more == sources:
            break
        sources = more
    return tuple(way for name in began for way in (*began[name], *derived.get(name, ())))


def _keep_admitted(ways: Iterable[Way], registry: Registry) -> Iterator[Way]:
    """Yield the ways without those to the admin API by other grants than it has tokens for."""
    for way in ways:
        if registry.admin_scopes.isdisjoint(way.scope):
            yield way
        elif way.kind == "direct" and (grants := FOR_ADMIN.intersection(way.grant_types)):
            yield replace(way, grant_types=tuple(sorted(grants)))


class AllowedScopes:
    """The scope values of APIs that clients are allowed, by API; many clients share a list."""

    def __init__(self, registry: Registry) -> None:
        self.registry = registry
        self._known: dict[frozenset[str], Mapping[str, frozenset[str]]] = {}

    def find(self, client: Client) -> Mapping[str, frozenset[str]]:
        """Return the scope values for each API of which there is one."""
        if client.allowed_scopes not in self._known:
            by_api: dict[str, set[str]] = {}
            for value in sorted(client.allowed_scopes):
                for resource in self.registry.resources_by_scope.get(value, ()):
                    if _is_allowed(value, client, self.registry):
                        by_api.setdefault(resource.name, set()).add(value)
            found = {name: frozenset(values) for name, values in sorted(by_api.items())}
            self._known[client.allowed_scopes] = found
        return self._known[client.allowed_scopes]


def direct_grants(client: Client, registry: Registry) -> tuple[str, ...]:
    """Return the grants by which the client gets a first token."""
    usable = DIRECT if registry.trusted_issuers else DIRECT - {JWT_BEARER}
    return tuple(sorted(client.allowed_grant_types & usable))


def source_scopes(registry: Registry) -> frozenset[str]:
    """Return the scope values of which a token needs one before a client that is not an API may delegate it; empty: any token."""
    for grant in registry.extension_grants:
        if grant.handler == DELEGATION_GRANT.handler:
            return frozenset(cast("list[str]", grant.options.get("source_scopes", [])))
    return frozenset()


def delegation_sources(
    client: Client, registry: Registry, sources: Sources
) -> tuple[str, ...] | None:
    """Return the APIs whose users' tokens the client may delegate; None if it can be given no such token."""
    if client.api_resource is not None:
        return (client.api_resource,) if client.api_resource in sources.apis else None
    needed = source_scopes(registry)
    usable = sources.scope & needed if needed else sources.scope
    apis = {each.name for value in usable for each in registry.resources_by_scope.get(value, ())}
    return tuple(sorted(apis & sources.apis)) or None


def _is_allowed(value: str, client: Client, registry: Registry) -> bool:
    try:
        check_allowed(frozenset({value}), client, registry)
    except OAuthError:
        return False
    return True


def _begun_ways(client: Client, registry: Registry, allowed: AllowedScopes) -> Iterator[Way]:
    direct = direct_grants(client, registry)
    extensions = tuple(sorted(client.allowed_grant_types - BUILTIN - {DELEGATION}))
    kinds: tuple[tuple[Kind, tuple[str, ...]], ...] = (
        ("direct", direct),
        ("extension", extensions),
    )
    for kind, grants in kinds:
        for api, scope in allowed.find(client).items() if grants else ():
            yield Way(
                client_id=client.client_id, api=api, kind=kind, grant_types=grants, scope=scope
            )


def _delegated_ways(
    client: Client, registry: Registry, allowed: AllowedScopes, sources: Sources
) -> Iterator[Way]:
    given = delegation_sources(client, registry, sources)
    if DELEGATION not in client.allowed_grant_types or given is None:
        return
    for api, scope in allowed.find(client).items():
        yield Way(
            client_id=client.client_id,
            api=api,
            kind="delegation",
            grant_types=(DELEGATION,),
            scope=scope,
            sources=given,
        )


def _exchanged_ways(
    client: Client,
    allowed: AllowedScopes,
    rules_by_client: RulesByClient,
    sources: Sources,
    begun: Collection[Way],
) -> Iterator[Way]:
    if TOKEN_EXCHANGE not in client.allowed_grant_types:
        return
    found: dict[tuple[str, str, tuple[str, ...]], set[str]] = {}
    rules = rules_by_client.get(client.client_id) or rules_by_client.get(EVERY_CLIENT, [])
    for case in _cases(rules, client.client_id):
        try:
            rule = find_rule(rules, case)
        except OAuthError:
            continue
        given = exchange_sources(client, rule, case, sources, begun)
        if given is not None:
            for api, value in _exchangeable(client, allowed, rule, case):
                found.setdefault((api, rule.position, given), set()).add(value)
    for (api, position, given), scope in sorted(found.items()):
        yield Way(
            client_id=client.client_id,
            api=api,
            kind="exchange",
            grant_types=(TOKEN_EXCHANGE,),
            scope=frozenset(scope),
            sources=given,
            rule=position,
        )


def exchange_sources(
    client: Client, rule: ExchangeRule, case: ExchangeCase, sources: Sources, begun: Collection[Way]
) -> tuple[str, ...] | None:
    """Return the APIs whose users' tokens fit; none where another token is presented; None if there is no such token."""
    if case.subject_token_type == "jwt" and case.subject_issuer != SELF:
        return ()
    if case.subject_token_type in {"refresh_token", "id_token"}:  # the client's own
        users = any(way.grant_types != (CLIENT_CREDENTIALS,) for way in begun)
        return () if users else None
    own = {client.api_resource} if client.api_resource else set[str]()
    audiences = own if rule.subject_audience is None else rule.subject_audience
    return tuple(sorted(sources.apis & audiences)) or None


def _exchangeable(
    client: Client, allowed: AllowedScopes, rule: ExchangeRule, case: ExchangeCase
) -> Iterator[tuple[str, str]]:
    """Yield each API with each scope value that the rule gives the client."""
    by_api, registry = allowed.find(client), allowed.registry
    for api in rule.audiences:
        for value in sorted(by_api.get(api, frozenset()) & rule.scopes):
            asked = _request(client, value, api, case)
            try:
                find_access(asked, rule, registry)
            except OAuthError:
                continue
            yield api, value


def _request(client: Client, value: str, api: str, case: ExchangeCase) -> ExchangeRequest:
    return ExchangeRequest(
        token_request=TokenRequest(
            client=client,
            grant_type=TOKEN_EXCHANGE,
            params=Params({}),
            scope=frozenset({value}),
            resources=(),
            authorization_details=(),
            now=clock(),
            cnf=None,
        ),
        subject=PresentedToken(text="-", type=case.subject_token_type),
        actor=None,
        requested_type=case.requested_token_type,
        targets=(api,),
    )


def _rules_by_client(registry: Registry) -> RulesByClient:
    """Return the rules for each client that one names, in their order; those for all others by `*`."""
    rules = registry.token_exchange
    found: dict[str, list[ExchangeRule]] = {name: [] for rule in rules for name in rule.clients}
    for rule in rules:
        for name in found if EVERY_CLIENT in rule.clients else rule.clients:
            found[name].append(rule)
    return found


def _cases(rules: Collection[ExchangeRule], client_id: str) -> Iterator[ExchangeCase]:
    """Yield every case that some rule tells from another one."""
    types = sorted({name for rule in rules for name in rule.subject_token_types})
    issuers = sorted({name for rule in rules for name in rule.subject_issuers})
    for subject_type, issuer, requested, has_actor in product(
        types, issuers, _FOR_APIS, (False, True)
    ):
        yield ExchangeCase(
            client_id=client_id,
            subject_token_type=subject_type,
            subject_issuer=issuer,
            requested_token_type=requested,
            has_actor=has_actor,
        )
