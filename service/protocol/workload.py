"""Names of workloads, and the client ids that rules make of them: matching, writing and recognising, without I/O."""

from __future__ import annotations

import re
from functools import lru_cache

from service.protocol.subject_template import find_claim_names

SPIFFE = "spiffe://"
JWT_SPIFFE = "urn:ietf:params:oauth:client-assertion-type:jwt-spiffe"
"""The `client_assertion_type` of a JWT-SVID (draft-ietf-oauth-spiffe-client-auth)."""
LONGEST_CLIENT_ID = 256
ANY = "*"

_KUBERNETES = re.compile(r"system:serviceaccount:([a-z0-9-]{1,63}):([a-z0-9.-]{1,253})")
_TRUST_DOMAIN = r"[a-z0-9._-]{1,255}"
_SPIFFE_ID = re.compile(rf"spiffe://({_TRUST_DOMAIN})/([A-Za-z0-9._-]+(?:/[A-Za-z0-9._-]+)*)")
_LONGEST_SPIFFE_ID = 2048
_NOT_ENCODED = re.compile(r"[^a-z0-9.-]")
_ENCODED = r"(?:[a-z0-9.-]|%[0-9A-F]{2})+"
_LABEL = r"[a-z0-9-]+"
"""A Kubernetes namespace, which has no dots (RFC 1123 label)."""
_PARTS = re.compile(r"\{([^{}]*)\}")


def split_service_account(sub: str) -> dict[str, str] | None:
    """Return `namespace` and `name` of a Kubernetes service account; None for another subject."""
    found = _KUBERNETES.fullmatch(sub)
    return None if found is None else {"namespace": found[1], "name": found[2]}


def split_spiffe_id(sub: str) -> dict[str, str] | None:
    """Return `trust_domain` and `path`, without its first slash, of a SPIFFE ID (SPIFFE-ID §2); None for another subject."""
    found = _SPIFFE_ID.fullmatch(sub) if len(sub) <= _LONGEST_SPIFFE_ID else None
    if found is None or not {".", ".."}.isdisjoint(found[2].split("/")):
        return None
    return {"trust_domain": found[1], "path": found[2]}


def is_trust_domain(name: str) -> bool:
    """Return whether it is the name of a SPIFFE trust domain (SPIFFE-ID §2.1)."""
    return re.fullmatch(_TRUST_DOMAIN, name) is not None


def fits(pattern: str, text: str, separator: str) -> bool:
    """Return whether a text is what a rule names: equal, or with a `*` for one or more characters of one segment."""
    if ANY not in pattern:
        return pattern == text
    wanted, given = pattern.split(separator), text.split(separator)
    return len(wanted) == len(given) and all(map(_segment_fits, wanted, given))


def _segment_fits(wanted: str, given: str) -> bool:
    begin, star, end = wanted.partition(ANY)
    if not star:
        return wanted == given
    longer = len(given) > len(begin) + len(end)
    return longer and given.startswith(begin) and given.endswith(end)


def encode(value: str) -> str:
    """Return the value with everything but `[a-z0-9.-]` percent-encoded, so that different values stay different."""
    return _NOT_ENCODED.sub(
        lambda found: "".join(f"%{byte:02X}" for byte in found[0].encode()), value
    )


def make_client_id(pattern: str, values: dict[str, str]) -> str | None:
    """Return the client id of a workload; None if it is too long for one, or a value is missing."""
    if not values.keys() >= set(find_claim_names(pattern)):
        return None
    made = _PARTS.sub(lambda name: encode(values[name[1]]), pattern)
    return made if len(made) <= LONGEST_CLIENT_ID else None


def can_make(pattern: str, client_id: str, *, labels: frozenset[str] = frozenset()) -> bool:
    """Return whether some workload would get this client id from the pattern; `labels` are variables without dots."""
    return _made_by(pattern, labels).fullmatch(client_id) is not None


@lru_cache(maxsize=1000)
def _made_by(pattern: str, labels: frozenset[str]) -> re.Pattern[str]:
    texts = _PARTS.split(pattern)
    return re.compile(
        "".join(
            (_LABEL if text in labels else _ENCODED) if at % 2 else re.escape(text)
            for at, text in enumerate(texts)
        )
    )


def is_ambiguous(pattern: str, *, labels: frozenset[str] = frozenset()) -> bool:
    """Return whether two workloads could get the same client id: nothing parts two variables for certain."""
    texts = _PARTS.split(pattern)
    for before, text, after in zip(texts[1::2], texts[2::2], texts[3::2], strict=False):
        plain = r"[a-z0-9.%A-F-]" if labels.isdisjoint({before, after}) else r"[a-z0-9-]"
        if not re.sub(plain, "", text):
            return True
    return False


def may_be_equal(pattern: str, other: str) -> bool:
    """Return whether two patterns might make the same client id; true if that cannot be excluded easily."""
    (first, *_, last), (begin, *_, end) = _PARTS.split(pattern), _PARTS.split(other)
    if "{" not in pattern or "{" not in other:
        return can_make(pattern, other) or can_make(other, pattern)
    heads = first.startswith(begin) or begin.startswith(first)
    return heads and (last.endswith(end) or end.endswith(last))
