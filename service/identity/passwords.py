"""Is this the right password? At the same cost for everyone, known or not (RFC 9106)."""

from __future__ import annotations

import asyncio
import os
import unicodedata
from dataclasses import dataclass

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from service.identity.decoy import Decoy, cost_of
from service.identity.fair_turns import FairTurns

MAX_PASSWORD = 200
MAX_AT_ONCE = 4
"""Hashes computed at once in one process; each takes one core and 19 MiB."""

_ARGON2ID = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def hash_password(password: str) -> str:
    """The Argon2id hash in PHC form, at the usual cost (RFC 9106 §4)."""
    return _ARGON2ID.hash(password)


def is_plain_text(text: str, *, longest: int) -> bool:
    """Whether a text is short enough and free of NUL, other control characters and lone surrogates."""
    return len(text) <= longest and not any(unicodedata.category(c) in {"Cc", "Cs"} for c in text)


def turns_per_core() -> FairTurns:
    """A turn for each core, and no more than memory bears."""
    return FairTurns(free=min(os.cpu_count() or 1, MAX_AT_ONCE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Passwords:
    """Verifies passwords off the event loop."""

    decoy: Decoy

    async def verifies(self, password: str, stored: str | None) -> bool:
        """Whether a password is the stored hash's; without a hash it takes as long and is not."""
        known = _usable(stored)
        if known is not None:
            self.decoy.learn(known)
        matches = await asyncio.to_thread(_matches, password, known or self.decoy.hash)
        return matches and known is not None

    def has_full_cost(self, stored: str | None) -> bool:
        """Whether comparing with this takes as long as it takes for somebody who does not exist."""
        known = _usable(stored)
        return known is None or cost_of(known) == self.decoy.cost


def _usable(stored: str | None) -> str | None:
    return stored if stored is not None and stored.startswith("$argon2id$") else None


def _matches(password: str, stored: str) -> bool:
    try:
        return _ARGON2ID.verify(stored, password)
    except (InvalidHashError, VerificationError):
        return False
