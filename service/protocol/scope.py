"""Scopes: sets of values, written with spaces between them (RFC 6749 §3.3)."""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from service.protocol.errors import InvalidScope, RefusedValue

OPENID = "openid"
OFFLINE_ACCESS = "offline_access"

_NO_ACCESS = frozenset({OFFLINE_ACCESS})
_SCOPE_VALUE = re.compile(r"[\x21\x23-\x5B\x5D-\x7E]+")


@lru_cache(maxsize=1000)  # the same few are sent all day
def parse_scope(text: str) -> frozenset[str]:
    """Read a scope parameter; order and repetition mean nothing."""
    values = frozenset(text.split(" ")) - {""}
    if not values or not all(_SCOPE_VALUE.fullmatch(value) for value in values):
        description = "scope is not a list of scope values separated by spaces"
        raise InvalidScope(description, refused=RefusedValue("scope", text))
    return values


@lru_cache(maxsize=1000)
def split_scope(text: str) -> frozenset[str]:
    return frozenset(text.split())


@lru_cache(maxsize=1000)
def format_scope(scope: frozenset[str]) -> str:
    """Write a scope, sorted, so that equal scopes look alike."""
    return " ".join(sorted(scope))


def gives_access(scope: frozenset[str], details: Collection[object]) -> bool:
    """Return whether scope or authorization_details give access to anything; offline_access alone gives none."""
    return bool(details) or not scope <= _NO_ACCESS
