"""Rules on `workload_issuers`: the keys of each are found safely, and no two issuers are confused (RFC 7523 §3, SPIFFE)."""

from __future__ import annotations

from collections.abc import Iterator

from service.config.problem import Finding, Location, warning
from service.config.rules.credentials import jwks_holds_public_keys
from service.config.rules.uris import is_unencrypted
from service.config.schema.file import ConfigurationFile
from service.model.workload import WorkloadIssuer
from service.protocol.workload import is_trust_domain

_FORGED = "must be https, except on loopback; otherwise anyone on the way could be any workload"
_OF_SPIFFE = ("trust_domain", "bundle_endpoint_url")
_OF_OTHERS = ("issuer", "jwks_uri", "jwks")


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
        elif path is not None and not path.is_file():
            message = f"there is no file {path} here, and without it no keys can be read"
            yield warning((name,), message)


FILE_RULES = (issuers_are_told_apart, kinds_have_their_keys)
