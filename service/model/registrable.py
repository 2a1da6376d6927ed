"""What clients that are not there yet may register, as far as discovery tells of it (RFC 7591 §2)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Registrable:
    """Empty where registration is off."""

    grant_types: frozenset[str] = frozenset()
    response_types: frozenset[str] = frozenset()
    scopes: frozenset[str] = frozenset()
