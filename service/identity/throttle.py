"""Has somebody guessed passwords too often? Counted in the store, so that all replicas know."""

from __future__ import annotations

from dataclasses import dataclass

from service.model.handle import digest
from service.model.network import network_of
from service.model.user import fold_username
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.verbs import Read

WIDER = 10
"""How many times more failures an account may have from anywhere, and an address on all accounts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginLimits:
    """`failures` within `window` seconds lock for `lockout` seconds."""

    failures: int
    window: int
    lockout: int


@dataclass(frozen=True, slots=True)
class Counter:
    """A counter of failures and the number at which it locks."""

    key: str
    limit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """Counts failed sign-ins per account and address, per account, and per address."""

    kv: KeyValue
    prefix: str
    limits: LoginLimits

    async def is_locked(self, username: str, address: str) -> bool:
        """Whether even the right password is refused for now."""
        counters = self._counters(username, address)
        counts = await self.kv.read(*[Read(counter.key, int) for counter in counters])
        return any(
            count is not None and count >= counter.limit
            for counter, count in zip(counters, counts, strict=True)
        )

    async def count_failure(self, username: str, address: str) -> bool:
        """Count one; whether this one locks. Not to be called while it is locked."""
        counters = self._counters(username, address)
        counts: list[int] = await self.kv.write(
            *[verbs.count(counter.key, self.limits.window) for counter in counters]
        )
        counted = list(zip(counters, counts, strict=True))
        # Or more: a count whose answer was lost is repeated, and skips a number.
        full = [
            verbs.extend(one.key, self.limits.lockout)
            for one, count in counted
            if count >= one.limit
        ]
        if full:
            await self.kv.write(*full)
        return bool(full)

    async def clear(self, username: str, address: str) -> None:
        """Forget the failures of this account at this address: its owner signed in."""
        pair, _, _ = self._counters(username, address)
        await self.kv.write(verbs.drop(pair.key))

    def _counters(self, username: str, address: str) -> tuple[Counter, Counter, Counter]:
        account, place = fold_username(username), network_of(address)
        few, many = self.limits.failures, self.limits.failures * WIDER
        return (
            Counter(self._key("pair", account, place), few),
            Counter(self._key("account", account), many),
            Counter(self._key("address", place), many),
        )

    def _key(self, *parts: str) -> str:
        return f"{self.prefix}:{{{digest(chr(0).join(parts))}}}:lf"
