"""Locks accounts and addresses after too many wrong passwords, counted in the store for all replicas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.handle import digest
from service.model.user import fold_username
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.rate_limit import network_of
from service.store.verbs import Read

WIDER = 10
"""How many times more failures an account may have from anywhere, and an address on all accounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """Counts failed sign-ins per account and address, per account, and per address.

    `failures` within `window` seconds lock for `lockout` seconds.
    """

    kv: KeyValue
    prefix: str
    failures: int
    window: int
    lockout: int

    async def is_locked(self, username: str, address: str) -> bool:
        counters = self._limits_by_key(username, address)
        counts = await self.kv.read(*[Read(key, int) for key in counters])
        return any(
            count is not None and count >= limit
            for count, limit in zip(counts, counters.values(), strict=True)
        )

    async def count_failure(self, username: str, address: str) -> bool:
        """Count a failure, and return whether it locks. Not to be called while it is locked."""
        counters = self._limits_by_key(username, address)
        counts: list[int] = await self.kv.write(
            *[verbs.count(key, self.window) for key in counters]
        )
        # Or more: a count whose answer was lost is repeated, and skips a number.
        full = [
            verbs.extend(key, self.lockout)
            for (key, limit), count in zip(counters.items(), counts, strict=True)
            if count >= limit
        ]
        if full:
            await self.kv.write(*full)
        return bool(full)

    async def clear(self, username: str, address: str) -> None:
        """Forget the failures of this account at this address: its owner signed in."""
        pair, *_ = self._limits_by_key(username, address)
        await self.kv.write(verbs.drop(pair))

    def _limits_by_key(self, username: str, address: str) -> Mapping[str, int]:
        account, place = fold_username(username), network_of(address)
        few, many = self.failures, self.failures * WIDER
        return {
            self._key("pair", account, place): few,
            self._key("account", account): many,
            self._key("address", place): many,
        }

    def _key(self, *parts: str) -> str:
        return f"{self.prefix}:{{{digest(chr(0).join(parts))}}}:lf"
