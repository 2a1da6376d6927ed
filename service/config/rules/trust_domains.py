"""Rules on `trust_domains`: what a domain names exists and has an effect (draft-ietf-oauth-transaction-tokens)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from service.config.problem import Finding, warning
from service.config.rules.names import report_unknown
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry
from service.model.trust_domain import TrustDomain
from service.model.workload import find_template
from service.protocol.token_types import GRANT_TYPE

_SECTION = "trust_domains"
_LONG = 300


def clients_of_domains_can_ask(file: ConfigurationFile) -> Iterator[Finding]:
    """Clients of a domain are registered, may exchange tokens, and can be told apart in `req_wl`."""
    clients = {client.client_id: client for client in file.clients}
    for at, domain in enumerate(file.trust_domains):
        for key in ("clients", "replacement"):
            names: frozenset[str] = getattr(domain, key)
            for name in sorted(names):
                location = (_SECTION, at, key, name)
                client = clients.get(find_template(file.workload_issuers, name) or name)
                if client is None:
                    yield report_unknown(location, name, set(clients), "client")
                    continue
                for finding in _judge_client(replace(client, client_id=name), domain):
                    yield finding.below(*location)


def _judge_client(client: ClientEntry, domain: TrustDomain) -> Iterator[Finding]:
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
            location = (_SECTION, at, "transaction_context", name)
            yield report_unknown(location, name, set(domain.scopes), "scope of this domain")
        if not domain.clients:
            message = "no client may ask for transaction tokens here"
            yield warning((_SECTION, at, "clients"), message, "add one")
        if domain.lifetime > _LONG:
            message = "a transaction token is not revoked, so it should live for seconds or minutes"
            yield warning((_SECTION, at, "lifetime"), message)


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
    clients_of_domains_can_ask,
    domains_say_what_they_mean,
    checks_can_make_their_tokens,
)
