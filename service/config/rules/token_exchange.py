"""Rules on `token_exchange`: what a rule names exists, and every rule can decide something (RFC 8693)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from service.config.problem import Finding, warning
from service.config.rules.names import api_scope_names, report_unknown
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry
from service.model.registry import IDENTITY_RESOURCES
from service.model.token_exchange import EVERY_CLIENT, SELF, ExchangeRuleEntry
from service.model.workload import find_template
from service.protocol.scope import OFFLINE_ACCESS
from service.protocol.token_types import GRANT_TYPE

SECTION = "token_exchange"
_FOR_APIS = frozenset({"access_token", "jwt", "refresh_token"})
_OF_TRUST_DOMAINS = frozenset({"self_signed", "unsigned_json", "txn_token"})


def rules_name_what_exists(file: ConfigurationFile) -> Iterator[Finding]:
    """Clients, scopes, API resources and issuers of a rule are registered."""
    scopes = {*IDENTITY_RESOURCES, *(one.name for one in file.identity_resources), OFFLINE_ACCESS}
    scopes |= {*(one.name for one in file.api_scopes), *api_scope_names(file)}
    resources = {resource.name for resource in file.api_resources}
    issuers = {SELF, *(issuer.name for issuer in file.trusted_issuers)}
    clients = {EVERY_CLIENT, *(client.client_id for client in file.clients)}
    for at, rule in enumerate(file.token_exchange):
        for key, names, known, what in (
            ("clients", rule.clients, clients, "client"),
            ("subject_audience", rule.subject_audience or (), resources, "API resource"),
            ("subject_issuers", rule.subject_issuers, issuers, "trusted issuer"),
            ("scopes", rule.scopes, scopes, "scope"),
        ):
            for name in sorted(frozenset(names) - known):
                if what != "client" or find_template(file.workload_issuers, name) is None:
                    yield report_unknown((SECTION, at, key, name), name, known, what)
        for place, name in enumerate(rule.audiences):
            if name not in resources:
                location = (SECTION, at, "audiences", place)
                yield report_unknown(location, name, resources, "API resource")


def rules_allow_something(file: ConfigurationFile) -> Iterator[Finding]:
    """A rule for tokens for APIs has scopes and audiences; transaction tokens need no rule."""
    for at, rule in enumerate(file.token_exchange):
        if not _FOR_APIS.isdisjoint(rule.requested_token_types):
            for key in ("scopes", "audiences"):
                if not getattr(rule, key):
                    message = f"without {key} this rule allows no token for an API"
                    yield Finding((SECTION, at, key), message, "list what may be asked for")
        for key in ("subject_token_types", "requested_token_types"):
            for name in sorted(_OF_TRUST_DOMAINS & getattr(rule, key)):
                message = f"{name} has no effect here: transaction tokens need no rule"
                hint = "trust_domains says who gets transaction tokens for what"
                yield warning((SECTION, at, key, name), message, hint)
        if rule.subject_issuers - {SELF} and "jwt" not in rule.subject_token_types:
            message = "tokens of other issuers are of the type jwt, which this rule does not accept"
            yield warning((SECTION, at, "subject_issuers"), message, "add jwt")


def rules_can_decide(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a rule that never decides, because one before it fits whatever it fits."""
    for at, rule in enumerate(file.token_exchange):
        for before, earlier in enumerate(file.token_exchange[:at]):
            if _covers(earlier, rule):
                message = "this rule never decides, because another fits all that it fits"
                found = warning((SECTION, at), message, "put the narrower rule first")
                yield replace(found, first=(SECTION, before))
                break


def _covers(earlier: ExchangeRuleEntry, later: ExchangeRuleEntry) -> bool:
    """Return whether the earlier rule fits every request that the later one fits."""
    return (
        (EVERY_CLIENT in earlier.clients or later.clients <= earlier.clients)
        and later.subject_token_types <= earlier.subject_token_types
        and later.subject_issuers <= earlier.subject_issuers
        and later.requested_token_types <= earlier.requested_token_types
        and earlier.actor in {later.actor, "optional"}
    )


def clients_of_rules_can_exchange(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn where client and rule do not go together, so that requests are refused."""
    clients = {client.client_id: client for client in file.clients}
    for at, rule in enumerate(file.token_exchange):
        named = [clients[name] for name in sorted(rule.clients) if name in clients]
        for client in named:
            for finding in _judge_client(client, rule, _api_names(file)):
                yield finding.below(SECTION, at)
    fitting = frozenset[str]().union(*(rule.clients for rule in file.token_exchange))
    for at, client in enumerate(file.clients):
        has_rule = not fitting.isdisjoint({EVERY_CLIENT, client.client_id})
        has_rule |= any(
            client.client_id in (*d.clients, *d.replacement) for d in file.trust_domains
        )
        if GRANT_TYPE in client.allowed_grant_types and not has_rule:
            message = "no rule of token_exchange names this client, so it can exchange nothing"
            location = ("clients", at, "allowed_grant_types", GRANT_TYPE)
            yield warning(location, message, "add a rule")


def _api_names(file: ConfigurationFile) -> frozenset[str]:
    return frozenset(resource.name for resource in file.api_resources)


def _judge_client(
    client: ClientEntry, rule: ExchangeRuleEntry, apis: Iterable[str]
) -> Iterator[Finding]:
    name, place = client.client_id, ("clients", client.client_id)
    if GRANT_TYPE not in client.allowed_grant_types:
        message = f"{name} may not use the grant type of token exchange"
        yield warning(place, message, f"add {GRANT_TYPE} to its allowed_grant_types")
    is_api = client.api_resource is not None or name in apis
    takes_access_tokens = not rule.subject_token_types.isdisjoint({"access_token", "jwt"})
    if rule.subject_audience is None and takes_access_tokens and not is_api:
        message = f"{name} is no API resource, so no access token is for it to exchange"
        yield warning(place, message, "name the APIs in subject_audience")
    if rule.scopes and rule.scopes.isdisjoint(client.allowed_scopes):
        message = f"{name} is allowed none of these scopes"
        yield warning(("scopes",), message, "add them to its allowed_scopes")
    if "refresh_token" in rule.requested_token_types and not client.allow_offline_access:
        message = f"{name} may have no refresh tokens"
        location = ("requested_token_types", "refresh_token")
        yield warning(location, message, "set allow_offline_access: true at the client")


FILE_RULES = (
    rules_name_what_exists,
    rules_allow_something,
    rules_can_decide,
    clients_of_rules_can_exchange,
)
