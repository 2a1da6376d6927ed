"""Is this the right password? At the same cost for everyone, known or not (RFC 9106)."""

from __future__ import annotations

import asyncio
import os
import unicodedata
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from service.model.user import PASSWORD_COST
from service.protocol.errors import TemporarilyUnavailable

MAX_PASSWORD = 200
MAX_AT_ONCE = 4
"""Hashes computed at once in one process; each takes one core and 19 MiB."""

_ARGON2ID = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)
_DECOY = (
    f"$argon2id$v=19${PASSWORD_COST}"
    "$HQpv9uCcHMi675yh+cTvQQ$V3kjvBuxbAkNcPX/1fjJomSXGtfWQ7zhI+BUTpQbHlY"
)
"""What a password is compared with where there is nothing to compare it with; its own is lost."""


def hash_password(password: str) -> str:
    """The Argon2id hash in PHC form, at the cost of the decoy (RFC 9106 §4)."""
    return _ARGON2ID.hash(password)


def is_plain_text(text: str, *, longest: int) -> bool:
    """Whether a text is short enough and free of NUL, other control characters and lone surrogates."""
    return len(text) <= longest and not any(unicodedata.category(c) in {"Cc", "Cs"} for c in text)


def _a_turn_per_core() -> asyncio.Semaphore:
    return asyncio.Semaphore(min(os.cpu_count() or 1, MAX_AT_ONCE))


@dataclass(frozen=True, slots=True, kw_only=True)
class Passwords:
    """Verifies passwords off the event loop, a few at a time."""

    turns: asyncio.Semaphore = field(default_factory=_a_turn_per_core)
    patience: float = 5.0
    """Seconds to wait for a turn."""

    @asynccontextmanager
    async def turn(self) -> AsyncGenerator[None]:
        """Wait for one of the few turns, and not for long."""
        try:
            async with asyncio.timeout(self.patience):
                await self.turns.acquire()
        except TimeoutError as error:
            raise TemporarilyUnavailable("too many people sign in at once") from error
        try:
            yield
        finally:
            self.turns.release()

    async def verifies(self, password: str, stored: str | None) -> bool:
        """Whether a password is the stored hash's; without a hash it takes as long and is not."""
        known = stored if stored is not None and stored.startswith("$argon2id$") else None
        matches = await asyncio.to_thread(_matches, password, known or _DECOY)
        return matches and known is not None


def _matches(password: str, stored: str) -> bool:
    try:
        return _ARGON2ID.verify(stored, password)
    except (InvalidHashError, VerificationError):
        return False
