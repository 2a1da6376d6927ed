"""Who can sign in."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

LOCAL = "local"
"""The `idp` of those who sign in here and not at another provider."""

PASSWORD_COST = "m=19456,t=2,p=1"
"""What one password costs to verify unless its hash says otherwise, as PHC strings write it."""

_COST = re.compile(r"m=(?P<memory>[0-9]{1,9}),t=(?P<passes>[0-9]{1,9}),p=[0-9]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """A person with a subject identifier that never changes (OIDC Core §2, `sub`)."""

    sub: str
    username: str
    password: str | None = field(repr=False)
    """The Argon2id hash in PHC form."""
    enabled: bool
    claims: Mapping[str, object]


class UserStore(Protocol):
    """Where users come from; the file's list, or an operator's own class by import path."""

    async def by_subject(self, sub: str) -> User | None:
        """The user whose subject identifier this is."""
        ...

    async def by_username(self, username: str) -> User | None:
        """The user who signs in by this name, compared in NFKC case-folded form."""
        ...


def hashing_work(cost: str) -> int:
    """Blocks of memory that are filled: its size times the passes over it (RFC 9106 §3.2)."""
    found = _COST.fullmatch(cost)
    return int(found["memory"]) * int(found["passes"]) if found else 0
