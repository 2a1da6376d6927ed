"""Writes a subject identifier from the claims of a JWT, as a template such as `partner:{sub}` says."""

from __future__ import annotations

import re
from collections.abc import Mapping

LONGEST_SUBJECT = 255
"""Characters (OIDC Core §2)."""

_BRACES = re.compile(r"\{([^{}]*)\}")


def find_claim_names(template: str) -> tuple[str, ...]:
    """Return the names in braces; ValueError for braces that hold no name."""
    names = tuple(_BRACES.findall(template))
    if "" in names or re.search("[{}]", _BRACES.sub("", template)):
        raise ValueError("has a brace without its counterpart, or without a name between")
    return names


def has_fixed_text(template: str) -> bool:
    """Return whether a template has anything besides claims."""
    return bool(_BRACES.sub("", template))


def fill_template(template: str, claims: Mapping[str, object]) -> str:
    """Return the subject; ValueError if a claim is missing, or the subject is too long."""
    subject = _BRACES.sub(lambda match: _text_of(claims, match[1]), template)
    if not 0 < len(subject) <= LONGEST_SUBJECT:
        raise ValueError(f"its subject here does not have 1 to {LONGEST_SUBJECT} characters")
    return subject


def _text_of(claims: Mapping[str, object], name: str) -> str:
    value = claims.get(name)
    if isinstance(value, bool) or not isinstance(value, str | int) or value == "":
        raise ValueError(f"its claim {name} is missing, or is no text")
    return str(value)
