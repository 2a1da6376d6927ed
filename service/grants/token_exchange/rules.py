"""Rules on `token_exchange`, the targets of its ID-JAGs, and `trust_domains`: what they name exists, and each can have an effect.

Token exchange is RFC 8693, an ID-JAG draft-ietf-oauth-identity-assertion-authz-grant (§4.3, §8.3), a trust domain
draft-ietf-oauth-transaction-tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from service.config.problem import Finding, Location, report_unknown, warning
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry
from service.model.resources import IDENTITY_RESOURCES, api_scope_names
from service.model.token_exchange import EVERY_CLIENT, SELF, ExchangeRuleEntry, TrustDomain
from service.protocol.scope import OFFLINE_ACCESS
from service.protocol.token_types import GRANT_TYPE

SECTION, _DOMAINS = "token_exchange", "trust_domains"
_FOR_APIS = frozenset({"access_token", "jwt", "refresh_token"})
_OF_TRUST_DOMAINS = frozenset({"self_signed", "unsigned_json", "txn_token"})
_ID_JAG = "id_jag"
_SUBJECT_TOKENS_OF_ID_JAGS = frozenset({"id_token", "refresh_token"})
_LONG = 300
"""Seconds of a transaction token."""


def rules_name_what_exists(file: ConfigurationFile) -> Iterator[Finding]:
    """Clients, scopes, API resources and issuers of a rule are registered."""
    scopes = {*IDENTITY_RESOURCES, *(one.name for one in file.identity_resources), OFFLINE_ACCESS}
    scopes |= {*(one.name for one in file.api_scopes), *api_scope_names(file.api_resources)}
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
                if what != "client" or file.find_template(name) is None:
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


def rules_for_id_jags_are_whole(file: ConfigurationFile) -> Iterator[Finding]:
    """A rule for ID-JAGs has targets, and accepts what an ID-JAG can be issued for."""
    for at, rule in enumerate(file.token_exchange):
        if _ID_JAG in rule.requested_token_types:
            for finding in _judge_rule_for_id_jags(rule):
                yield finding.below(SECTION, at)
        elif rule.targets:
            message = "has no effect, because the rule does not allow id_jag"
            hint = "add id_jag to requested_token_types"
            yield warning((SECTION, at, "targets"), message, hint)


def _judge_rule_for_id_jags(rule: ExchangeRuleEntry) -> Iterator[Finding]:
    if not rule.targets:
        message = "without targets this rule allows no ID-JAG"
        yield Finding(("targets",), message, "list the authorization servers")
    if _SUBJECT_TOKENS_OF_ID_JAGS.isdisjoint(rule.subject_token_types):
        message = "an ID-JAG is issued for an id_token or a refresh_token"
        yield Finding(("subject_token_types",), message, "add one of them")
    if rule.actor == "required":
        message = "an ID-JAG names no actor, so this rule refuses every request for one"
        yield warning(("actor",), message, "set optional")


def targets_are_told_apart(file: ConfigurationFile) -> Iterator[Finding]:
    """A target is listed once, is another server, and knows clients of this one (§8.3)."""
    clients = {client.client_id for client in file.clients}
    for at, rule in enumerate(file.token_exchange):
        first: dict[str, int] = {}
        for place, target in enumerate(rule.targets):
            location: Location = (SECTION, at, "targets", place)
            if target.issuer == file.issuer:
                message = "is this service itself, whose tokens the client can ask for directly"
                yield Finding((*location, "issuer"), message)
            if target.issuer in first:
                earlier = (SECTION, at, "targets", first[target.issuer], "issuer")
                yield Finding((*location, "issuer"), "is listed twice", first=earlier)
            first.setdefault(target.issuer, place)
            for name in sorted(target.client_ids.keys() - clients):
                where = (*location, "client_ids", name)
                yield report_unknown(where, name, clients, "client")
            if EVERY_CLIENT not in rule.clients:
                for name in sorted((target.client_ids.keys() & clients) - rule.clients):
                    message = f"the rule is not for {name}"
                    yield warning((*location, "client_ids", name), message, "add it to clients")


def clients_of_domains_can_ask(file: ConfigurationFile) -> Iterator[Finding]:
    """Clients of a domain are registered, may exchange tokens, and can be told apart in `req_wl`."""
    clients = {client.client_id: client for client in file.clients}
    for at, domain in enumerate(file.trust_domains):
        for key in ("clients", "replacement"):
            names: frozenset[str] = getattr(domain, key)
            for name in sorted(names):
                location = (_DOMAINS, at, key, name)
                client = clients.get(file.find_template(name) or name)
                if client is None:
                    yield report_unknown(location, name, set(clients), "client")
                    continue
                for finding in _judge_client_of_domain(replace(client, client_id=name), domain):
                    yield finding.below(*location)


def _judge_client_of_domain(client: ClientEntry, domain: TrustDomain) -> Iterator[Finding]:
    if GRANT_TYPE not in client.allowed_grant_types:
        message = "this client may not use the grant type of token exchange"
        yield warning((), message, f"add {GRANT_TYPE} to its allowed_grant_types")
    if "," in client.client_id:
        message = "req_wl separates workloads by commas, so that this client_id would be two"
        yield Finding((), message, "give the client another client_id")
    if domain.subject_token_types <= {"self_signed"} and not client.has_keys:
        yield warning(
            (), "this client has no key to sign a subject token with", "set jwks or jwks_uri"
        )


def domains_say_what_they_mean(file: ConfigurationFile) -> Iterator[Finding]:
    """`transaction_context` is for scopes of the domain, somebody may ask, and tokens are short-lived."""
    for at, domain in enumerate(file.trust_domains):
        for name in sorted(domain.transaction_context.keys() - domain.scopes):
            location = (_DOMAINS, at, "transaction_context", name)
            yield report_unknown(location, name, set(domain.scopes), "scope of this domain")
        if not domain.clients:
            message = "no client may ask for transaction tokens here"
            yield warning((_DOMAINS, at, "clients"), message, "add one")
        if domain.lifetime > _LONG:
            message = "a transaction token is not revoked, so it should live for seconds or minutes"
            yield warning((_DOMAINS, at, "lifetime"), message)


def checks_can_make_their_tokens(file: ConfigurationFile) -> Iterator[Finding]:
    """An API whose requests get transaction tokens has a trust domain, with purposes that are scopes of the API."""
    domains = {domain.name: domain for domain in file.trust_domains}
    for at, api in enumerate(file.api_resources):
        location = ("api_resources", at, "check")
        if api.check.token != "none" and api.check.cache:
            message = "it has no effect, because each answer carries a token of its own"
            yield warning((*location, "cache"), message, "remove cache, or token")
        if api.check.token != "txn_token":
            continue
        name = api.check.trust_domain
        if name is not None and name not in domains:
            yield report_unknown((*location, "trust_domain"), name, set(domains), "trust domain")
        elif name is None and len(domains) != 1:
            message = "it is not clear of which trust domain the transaction tokens are"
            yield Finding((*location, "token"), message, "set trust_domain to one of trust_domains")
        elif (api.scopes or frozenset({api.name})).isdisjoint(domains[name or min(domains)].scopes):
            message = "no scope of the API is a purpose of the trust domain, so nothing passes"
            yield Finding((*location, "token"), message, "list one in the scopes of the domain")
        if "," in api.name:
            message = "req_wl separates workloads by commas, so that this name would be two"
            yield Finding(("api_resources", at, "name"), message, "give the API another name")


FILE_RULES = (
    rules_name_what_exists,
    rules_allow_something,
    rules_can_decide,
    clients_of_rules_can_exchange,
    rules_for_id_jags_are_whole,
    targets_are_told_apart,
    clients_of_domains_can_ask,
    domains_say_what_they_mean,
    checks_can_make_their_tokens,
)
