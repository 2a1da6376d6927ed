"""Verifies client secrets of which another server has kept slow hashes, in the turns of passwords."""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Sequence
from hashlib import sha256
from time import monotonic

from service.caching import BoundedCache
from service.identity.hashing import matches
from service.identity.passwords import FairTurns, usable_hash
from service.model.password_hash import USUAL, PasswordHash
from service.model.registry import LiveRegistry, Registry
from service.model.request_context import caller
from service.model.secret import Secret
from service.store.rate_limit import site_of

REMEMBERED = 10_000
"""Secrets that were right; each is remembered by a hash."""

TIMES = 20
"""Refusals whose time is known."""


class SlowSecrets:
    """While the registry has any slow hash, a wrong secret takes as long for a client that has none, or is unknown.

    Each refusal computes as many hashes as the client with the most of them has. Where its own ones are quicker than the
    slowest of the registry, it waits for what they lack.
    """

    def __init__(self, registry: LiveRegistry, turns: FairTurns) -> None:
        self._registry, self._turns = registry, turns
        self._known: Registry | None = None
        self._most, self._decoy = 0, USUAL
        self._right = BoundedCache[bytes, bool](REMEMBERED)
        self._times = deque[float](maxlen=TIMES)
        """Seconds that refusals of none but decoys, or of hashes like them, have taken in this process."""

    async def find(self, given: str, stored: Sequence[str]) -> str | None:
        """Return which of the hashes is the secret's, at once if it has been right before."""
        await self._look_at(self._registry.current)
        if not self._most:
            return None
        for each in stored:
            if self._right.get(_name(given, each)):
                return each
        here = site_of(caller())
        async with self._turns.place(here):
            async with self._turns.turn(here):
                times, decoy, most = self._times, self._decoy, self._most  # a reload replaces them
                if not times:
                    times.append(await self._compute(given, [decoy] * most))
                began = monotonic()
                known = {each: usable for each in stored if (usable := usable_hash(each))}
                for each, usable in known.items():
                    if await asyncio.to_thread(matches, given, usable):
                        self._right.put(_name(given, each), True)
                        return each
                await self._compute(given, [decoy] * (most - len(known)))
            took = monotonic() - began
            if all(each.shape == decoy.shape for each in known.values()):
                times.append(took)
            else:
                await asyncio.sleep(random.choice(times) - took)  # noqa: S311 - no secret
        return None

    async def _compute(self, given: str, hashes: Sequence[PasswordHash]) -> float:
        """Compute these hashes in vain; return the seconds for it."""
        began = monotonic()
        for each in hashes:
            await asyncio.to_thread(matches, given, each)
        return monotonic() - began

    async def _look_at(self, registry: Registry) -> None:
        """Find the slowest hash of a new registry, and how many one name has at most."""
        if registry is self._known:
            return
        counts, hashes = Counter[str](), list[str]()
        for name, secrets in _secrets_by_name(registry):
            slow = [secret.hash for secret in secrets if secret.hash is not None]
            counts[name] += len(slow)
            hashes += slow
        known = await asyncio.to_thread(lambda: [*filter(None, map(usable_hash, hashes))])
        self._most = max(counts.values(), default=0)
        self._decoy = max(known, key=lambda each: each.work, default=USUAL)
        self._times = deque[float](maxlen=TIMES)
        self._known = registry


def _secrets_by_name(registry: Registry) -> list[tuple[str, Sequence[Secret]]]:
    """Return the secrets of everybody who authenticates; a client may have the name of an API."""
    return [
        *[(each.client_id, each.client_secrets) for each in registry.clients.values()],
        *[(each.name, each.secrets) for each in registry.api_resources.values()],
        *[(each.name, each.secrets) for each in registry.api_scopes.values()],
    ]


def _name(given: str, stored: str) -> bytes:
    return sha256(f"{stored}\n{given}".encode()).digest()
