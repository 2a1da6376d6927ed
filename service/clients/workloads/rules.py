"""Rules on `workload_issuers`: keys are found safely, no two issuers or workloads are confused (RFC 7523 §3, SPIFFE)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from service.clients.rules.keys_and_secrets import jwks_holds_public_keys
from service.config.named_files import find_file_problem
from service.config.problem import Finding, Location, report_unknown, warning
from service.config.schema.file import ConfigurationFile
from service.model.workload import (
    ANY,
    SPIFFE,
    WorkloadIssuer,
    WorkloadRule,
    can_make,
    is_ambiguous,
    is_trust_domain,
    may_be_equal,
)
from service.protocol.templates import find_claim_names
from service.protocol.uris import is_unencrypted

_FORGED = "must be https, except on loopback; otherwise anyone on the way could be any workload"
_OF_SPIFFE = ("trust_domain", "bundle_endpoint_url")
_OF_OTHERS = ("issuer", "jwks_uri", "jwks")
_METHOD = "workload"
_ACCOUNT = "system:serviceaccount:"
_SEGMENTS = 4
_VARIABLES = {"kubernetes": ("namespace", "name"), "spiffe": ("trust_domain", "path")}
_RESERVED = ("dc_", "https://")
"""How the ids of clients begin that register dynamically, and of those that are URLs."""
_CREDENTIALS = ("client_secrets", "self_signed_certificates", "jwks", "jwks_uri", "redirect_uris")

_Placed = tuple[Location, WorkloadIssuer, WorkloadRule]


def issuers_are_told_apart(file: ConfigurationFile) -> Iterator[Finding]:
    """A token is of one issuer."""
    first: dict[tuple[str, str], int] = {}
    for at, entry in enumerate(file.workload_issuers):
        key = "trust_domain" if entry.kind == "spiffe" else "issuer"
        value: str | None = getattr(entry, key)
        location: Location = ("workload_issuers", at, key)
        if value is None:
            continue
        if value == file.issuer:
            message = "is this service itself, whose tokens authenticate nobody"
            yield Finding(location, message)
        if (key, value) in first:
            earlier = ("workload_issuers", first[key, value], key)
            yield Finding(location, "is listed twice", "put all rules into one", first=earlier)
        first.setdefault((key, value), at)


def kinds_have_their_keys(file: ConfigurationFile) -> Iterator[Finding]:
    """Keys are registered or fetched where the kind of the issuer says, and nobody on the way can change them."""
    for at, entry in enumerate(file.workload_issuers):
        spiffe = entry.kind == "spiffe"
        for finding in (
            *_find_misplaced(entry),
            *(_judge_trust_domain(entry) if spiffe else _judge_keys(entry)),
            *_judge_files(entry),
        ):
            yield finding.below("workload_issuers", at)


def _find_misplaced(entry: WorkloadIssuer) -> Iterator[Finding]:
    """Report keys that are missing, and those of another kind."""
    spiffe = entry.kind == "spiffe"
    for name in _OF_OTHERS if spiffe else _OF_SPIFFE:
        if getattr(entry, name) is not None:
            yield Finding((name,), f"is not for kind: {entry.kind}", "remove it")
    for name in _OF_SPIFFE if spiffe else ("issuer",):
        if getattr(entry, name) is None:
            yield Finding((), f"kind: {entry.kind} needs {name}")


def _judge_trust_domain(entry: WorkloadIssuer) -> Iterator[Finding]:
    if entry.trust_domain is not None and not is_trust_domain(entry.trust_domain):
        message = "is no trust domain: lower case letters, digits, dots, dashes and underscores"
        yield Finding(("trust_domain",), message, "write it without spiffe://")
    if is_unencrypted(entry.bundle_endpoint_url or ""):
        yield Finding(("bundle_endpoint_url",), _FORGED)


def _judge_keys(entry: WorkloadIssuer) -> Iterator[Finding]:
    if entry.jwks is not None and entry.jwks_uri is not None:
        yield Finding(("jwks_uri",), "jwks is given too; only one may be")
    yield from jwks_holds_public_keys(entry)
    if is_unencrypted(entry.jwks_uri or ""):
        yield Finding(("jwks_uri",), _FORGED)
    if entry.issuer is None or entry.jwks is not None or entry.jwks_uri is not None:
        return
    if not entry.issuer.startswith(("https://", "http://")):
        message = "is no URL below which metadata could be read"
        yield Finding(("issuer",), message, "add jwks_uri or jwks")
    elif is_unencrypted(entry.issuer):
        yield Finding(("issuer",), _FORGED)


def _judge_files(entry: WorkloadIssuer) -> Iterator[Finding]:
    """Warn of files that are not there, which may only be so where `check` runs."""
    for name in ("token_file", "ca_file"):
        path = getattr(entry, name)
        if path is not None and entry.jwks is not None:
            yield warning((name,), "has no effect with jwks: nothing is fetched", "remove it")
        elif path is not None and (problem := find_file_problem(path)) is not None:
            message = f"{problem} here, and without it no keys can be read"
            yield warning((name,), message)


def _rules(file: ConfigurationFile) -> Iterator[_Placed]:
    for at, issuer in enumerate(file.workload_issuers):
        for index, rule in enumerate(issuer.rules):
            yield ("workload_issuers", at, "rules", index), issuer, rule


def subjects_are_exact(file: ConfigurationFile) -> Iterator[Finding]:
    """A rule names workloads of its issuer, and each `*` stands for a part of one segment."""
    for location, issuer, rule in _rules(file):
        for finding in (*_judge_subject(issuer, rule), *_judge_stars(issuer, rule)):
            yield finding.below(*location)


def _judge_subject(issuer: WorkloadIssuer, rule: WorkloadRule) -> Iterator[Finding]:
    if rule.claims and issuer.kind != "oidc":
        yield Finding(("claims",), f"are not compared with kind: {issuer.kind}", "remove them")
    if rule.subject is None:
        if issuer.kind != "oidc" or not rule.claims:
            yield Finding((), "subject is missing, so it would fit every workload")
        return
    head = {"kubernetes": _ACCOUNT, "spiffe": f"{SPIFFE}{issuer.trust_domain}/"}
    begin = head.get(issuer.kind, "")
    if not rule.subject.startswith(begin):
        yield Finding(("subject",), f"does not begin with {begin}, as its tokens do")
    elif issuer.kind == "kubernetes" and len(rule.subject.split(":")) != _SEGMENTS:
        message = "is no service account"
        yield Finding(("subject",), message, f'write "{_ACCOUNT}namespace:name"')


def _judge_stars(issuer: WorkloadIssuer, rule: WorkloadRule) -> Iterator[Finding]:
    for name, pattern in rule.patterns.items():
        if any(segment.count(ANY) > 1 for segment in pattern.split(issuer.separator)):
            where = ("subject",) if name == "sub" else ("claims", name)
            yield Finding(where, "has more than one * in a segment", "write one for both")


def rules_lead_to_one_party(file: ConfigurationFile) -> Iterator[Finding]:
    """A rule leads to one client or API, which exists unless the rule makes it."""
    clients = {client.client_id: client for client in file.clients}
    apis = {api.name for api in file.api_resources}
    templates = {name for name, client in clients.items() if client.template}
    for location, _, rule in _rules(file):
        if (rule.client_id is None) is (rule.api_resource is None):
            yield Finding(location, "expected either client_id or api_resource")
        if rule.template is not None and rule.template not in templates:
            message = f"there is no client {rule.template} with template: true"
            yield Finding((*location, "template"), message)
        if rule.api_resource is not None:
            if rule.template is not None:
                yield Finding((*location, "template"), "is for client_id, not for api_resource")
            if rule.api_resource not in apis:
                where = (*location, "api_resource")
                yield report_unknown(where, rule.api_resource, apis, "API resource")
        elif rule.template is None and rule.client_id is not None:
            yield from _judge_named(rule.client_id, clients.keys() - templates, location)


def _judge_named(client_id: str, known: set[str], location: Location) -> Iterator[Finding]:
    where = (*location, "client_id")
    if client_id in known:
        return
    if "{" in client_id:
        hint = "add template, the client whose settings the made clients have"
        yield Finding(where, "makes clients, and template is missing", hint)
    else:
        yield report_unknown(where, client_id, known, "client")


def made_ids_are_clear(file: ConfigurationFile) -> Iterator[Finding]:
    """Two workloads never share a made client id, unless a rule says so by its exact subject."""
    for location, issuer, rule in _rules(file):
        stars = [name for name, pattern in rule.patterns.items() if ANY in pattern]
        if rule.template is None:
            if stars:
                message = "fits several workloads, which would be one client or API"
                where = (*location, "subject") if "sub" in stars else (*location, "claims")
                hint = "name each workload, or make a client for each by template"
                yield Finding(where, message, hint)
            continue
        for finding in _judge_pattern(issuer, rule, stars):
            yield finding.below(*location, "client_id")


def _judge_pattern(
    issuer: WorkloadIssuer, rule: WorkloadRule, stars: Collection[str]
) -> Iterator[Finding]:
    pattern = rule.client_id or ""
    try:
        used = set(find_claim_names(pattern))
    except ValueError as error:
        yield Finding((), str(error), 'write a variable in braces, as in "shop.{name}"')
        return
    known = _VARIABLES.get(issuer.kind, tuple(rule.patterns))
    for name in sorted(used - set(known)):
        listed = ", ".join(f"{{{each}}}" for each in known)
        yield Finding((), f"there is no variable {{{name}}}", f"known: {listed}")
    for name in sorted(set(_find_varying(issuer, rule, stars)) - used):
        yield Finding((), f"lacks {{{name}}}, so workloads that differ in it would be one client")
    if is_ambiguous(pattern, labels=issuer.labels):
        message = "has variables that nothing parts, so two workloads could be one client"
        yield Finding((), message, 'write "_" or ":" between them')


def _find_varying(
    issuer: WorkloadIssuer, rule: WorkloadRule, stars: Collection[str]
) -> Iterator[str]:
    """Yield the variables that differ between the workloads that a rule fits."""
    if issuer.kind == "oidc":
        yield from stars
    elif issuer.kind == "spiffe" and stars:
        yield "path"
    elif rule.subject is not None:
        parts = rule.subject.split(":")[2:]
        yield from (
            name for name, part in zip(("namespace", "name"), parts, strict=False) if ANY in part
        )


def made_ids_are_new(file: ConfigurationFile) -> Iterator[Finding]:
    """No rule makes a client id that somebody else has."""
    names = [(client.client_id, "a client") for client in file.clients]
    names += [(api.name, "an API resource") for api in file.api_resources]
    makers: list[tuple[Location, WorkloadRule]] = []
    for at, issuer, rule in _rules(file):
        pattern, location = rule.client_id, (*at, "client_id")
        if rule.template is None or pattern is None:
            continue
        for name, kind in names:
            if can_make(pattern, name, labels=issuer.labels):
                yield Finding(location, f"can make {name}, which is {kind}", "begin it otherwise")
        for reserved in _RESERVED:
            if pattern.startswith(reserved):
                message = f"begins with {reserved}, as the ids of clients that are not made here"
                yield Finding(location, message, "begin it otherwise")
        yield from _find_overlap(location, rule, makers)
        makers.append((location, rule))


def _find_overlap(
    location: Location, rule: WorkloadRule, earlier: Iterable[tuple[Location, WorkloadRule]]
) -> Iterator[Finding]:
    """Report a client id that could have the settings of either of two templates."""
    for first, other in earlier:
        unlike = other.template != rule.template
        if unlike and may_be_equal(rule.client_id or "", other.client_id or ""):
            message = "can make the client ids of another rule, which has another template"
            yield Finding(location, message, "begin it otherwise", first=first)


def rules_can_decide(file: ConfigurationFile) -> Iterator[Finding]:
    """Warn of a rule that never decides, because one before it fits all workloads that it fits."""
    for at, issuer in enumerate(file.workload_issuers):
        location = ("workload_issuers", at, "rules")
        for index, first in _find_rules_that_never_decide(issuer):
            message = "never decides: a rule before it fits first"
            found = warning(
                (*location, index), message, "put the narrower rule first, or remove it"
            )
            yield replace(found, first=(*location, first))


def _find_rules_that_never_decide(issuer: WorkloadIssuer) -> Iterator[tuple[int, int]]:
    """Yield the position of each, and that of a rule that decides in its place."""
    by_subject: dict[str | None, list[int]] = defaultdict(list)
    """Rules with an exact subject by it; the others, which may fit many, under None."""
    for index, rule in enumerate(issuer.rules):
        exact = None if rule.subject is None or ANY in rule.subject else rule.subject
        # What fits a pattern also fits a wider one if the pattern does, whose * counts as a character.
        claims = {**rule.claims, **rule.patterns}
        for first in (at for key in {exact, None} for at in by_subject[key]):
            if issuer.fits(issuer.rules[first], claims):
                yield index, first
                break
        by_subject[exact].append(index)


def templates_are_nobody(file: ConfigurationFile) -> Iterator[Finding]:
    """Nobody can be a template, and some rule uses it."""
    used = {rule.template for _, _, rule in _rules(file)}
    for at, client in enumerate(file.clients):
        if not client.template:
            continue
        for name in _CREDENTIALS:
            if getattr(client, name):
                message = "is not for a template: each of its clients is another workload"
                yield Finding(("clients", at, name), message, "remove it")
        if client.client_id not in used:
            message = "no rule of workload_issuers makes clients of it"
            yield warning(("clients", at, "template"), message)


def workloads_authenticate(file: ConfigurationFile) -> Iterator[Finding]:
    """A client that a rule names authenticates by its token, and one that must do so is named (RFC 7591 §2)."""
    named = file.clients_by_rule
    for at, client in enumerate(file.clients):
        method, location = client.token_endpoint_auth_method, ("clients", at)
        if client.client_id in named:
            if method not in {None, _METHOD}:
                message = "a rule of workload_issuers names this client, so it must be workload"
                yield Finding((*location, "token_endpoint_auth_method"), message)
            if not client.require_client_secret:
                message = "anybody can be this client, which a rule of workload_issuers names"
                yield Finding((*location, "require_client_secret"), message, "remove it")
        elif method == _METHOD:
            message = "workload needs a rule of workload_issuers that names this client"
            yield Finding((*location, "token_endpoint_auth_method"), message)


FILE_RULES = (
    issuers_are_told_apart,
    kinds_have_their_keys,
    subjects_are_exact,
    rules_lead_to_one_party,
    made_ids_are_clear,
    made_ids_are_new,
    rules_can_decide,
    templates_are_nobody,
    workloads_authenticate,
)
