"""DNs and values of filters, in which nothing that a person types has a meaning (RFC 4514, RFC 4515)."""

from __future__ import annotations

import string
from importlib import import_module
from typing import Any

_dn: Any = import_module("ldap.dn")
_ldap: Any = import_module("ldap")

WHOLE = "dn"
"""The name of a group that is its DN."""

_PLAIN = frozenset((string.ascii_letters + string.digits).encode())


def filter_value(value: bytes) -> str:
    """Return a value as filters write it: all but letters and digits as hex (RFC 4515 §3)."""
    return "".join(chr(octet) if octet in _PLAIN else f"\\{octet:02x}" for octet in value)


def dn_value(value: str) -> str:
    """Return a value as DNs write it (RFC 4514 §2.4)."""
    escaped: str = _dn.escape_dn_chars(value)
    return escaped


def is_dn(text: str) -> bool:
    return bool(text) and _parse(text) is not None


def is_below(dn: str, base: str) -> bool:
    """Return whether an entry is at the base or below it; spelling does not matter."""
    names, above = _parse(dn) or [], _parse(base) or []
    return bool(above) and names[-len(above) :] == above


def first_value(dn: str, attribute: str) -> str | None:
    """Return the attribute's value in the DN's first component, or the whole DN for `dn`."""
    if attribute == WHOLE:
        return dn
    try:
        ((*components,), *_) = _dn.str2dn(dn)
    except (_ldap.DECODING_ERROR, ValueError):
        return None
    for name, value, _ in components:
        if name.lower() == attribute.lower():
            return str(value)
    return None


def _parse(dn: str) -> list[frozenset[tuple[str, str]]] | None:
    """Return the components of a DN, in lower case."""
    try:
        parsed = _dn.str2dn(dn)
    except _ldap.DECODING_ERROR:
        return None
    return [
        frozenset((name.lower(), value.casefold()) for name, value, _ in component)
        for component in parsed
    ]
