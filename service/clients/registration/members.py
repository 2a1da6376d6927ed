"""Reads the members of a registration: which of them are there, and what they imply (RFC 7591 §2, RFC 7592 §2.2)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import cast

from service.protocol.redirect_uri import private_use_scheme

_DEPTH = 4
"""A member of a key in jwks is that deep; nothing below it has a meaning here."""


def present_members(sent: Mapping[str, object]) -> dict[str, object]:
    """Return the members without those that count as absent: null, and empty or blank texts, also in lists and keys (RFC 7592 §2.2)."""
    return cast("dict[str, object]", _without_absent(sent, _DEPTH))


def _without_absent(value: object, depth: int) -> object:
    if depth == 0:
        return value
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value).items()
        left = {name: _without_absent(one, depth - 1) for name, one in members}
        return {name: one for name, one in left.items() if not _is_absent(one)}
    if isinstance(value, list):
        items = [_without_absent(one, depth - 1) for one in cast("list[object]", value)]
        left_items = [one for one in items if not _is_absent(one)]
        return None if items and not left_items else left_items
    return value


def _is_absent(value: object) -> bool:
    return value is None or (isinstance(value, str) and not value.strip())


def private_use_schemes(members: Mapping[str, object]) -> frozenset[str]:
    """Return the schemes by which redirect URIs lead to applications on the user's device (RFC 8252 §7.1)."""
    uris = members.get("redirect_uris")
    texts = cast("Iterable[object]", uris if isinstance(uris, list) else ())
    schemes = (private_use_scheme(one) for one in texts if isinstance(one, str))
    return frozenset(scheme for scheme in schemes if scheme)
