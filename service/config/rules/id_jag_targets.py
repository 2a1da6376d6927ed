"""Rules on the targets of ID-JAGs (draft-ietf-oauth-identity-assertion-authz-grant §4.3, §8.3)."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding, Location, warning
from service.config.rules.names import report_unknown
from service.config.schema.file import ConfigurationFile
from service.model.token_exchange import EVERY_CLIENT, ExchangeRuleEntry

SECTION = "token_exchange"
_ID_JAG = "id_jag"
_SUBJECT_TOKENS = frozenset({"id_token", "refresh_token"})


def rules_for_id_jags_are_whole(file: ConfigurationFile) -> Iterator[Finding]:
    """A rule for ID-JAGs has targets, and accepts what an ID-JAG can be issued for."""
    for at, rule in enumerate(file.token_exchange):
        if _ID_JAG in rule.requested_token_types:
            for finding in _judge_rule(rule):
                yield finding.below(SECTION, at)
        elif rule.targets:
            message = "has no effect, because the rule does not allow id_jag"
            hint = "add id_jag to requested_token_types"
            yield warning((SECTION, at, "targets"), message, hint)


def _judge_rule(rule: ExchangeRuleEntry) -> Iterator[Finding]:
    if not rule.targets:
        message = "without targets this rule allows no ID-JAG"
        yield Finding(("targets",), message, "list the authorization servers")
    if _SUBJECT_TOKENS.isdisjoint(rule.subject_token_types):
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


FILE_RULES = (rules_for_id_jags_are_whole, targets_are_told_apart)
