"""Limits failed sign-ins per account and address, per account, and per address."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

import msgspec

from service.clock import clock
from service.config.schema.server import Limits
from service.model.handle import digest
from service.model.user import fold_username
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.rate_limit import networks_of
from service.store.records import Index
from service.store.verbs import Command, Read, steps

T = TypeVar("T")

WIDER = 10
"""How many times more failures an account may have from anywhere, and an address on all accounts."""

PASSWORDS, FACTORS = "lf", "of"
"""The kinds of counters."""

MOST_PLACES = 10_000
"""Addresses whose failures at one account are forgotten at once."""


def account_of_code(subject: str) -> str:
    """Return the account under which wrong codes for a user's CIBA requests count; no user name is like it."""
    return f"\0{subject}"


class Failures(msgspec.Struct, frozen=True, kw_only=True):
    """The failures that count for an attempt."""

    are_too_many: bool
    """Whether the account is locked here, or everywhere, or the address is."""
    of_pair: tuple[str, ...]
    """The counters of this account at this address that are not at zero."""


class Throttle(msgspec.Struct, frozen=True, kw_only=True):
    """Counts failed sign-ins per account and address, per account, and per address."""

    kv: KeyValue
    prefix: str
    limits: Limits
    name: str = PASSWORDS
    """The kind of its counters."""

    async def find(
        self, username: str, address: str, *others: Read[T]
    ) -> tuple[Failures, Sequence[T | None]]:
        """Return what is known of failures before an attempt, and what else is read in the same round trip."""
        pairs, wider = self._find_limits(username, address)
        counters = {**pairs, **wider}
        reads: list[Read[Any]] = [*others, *[Read(key, int) for key in counters]]
        values = await self.kv.read(*reads)
        counts = values[len(others) :]
        found = {key: count or 0 for key, count in zip(counters, counts, strict=True)}
        failures = Failures(
            are_too_many=any(found[key] >= limit for key, limit in counters.items()),
            of_pair=tuple([key for key in pairs if found[key]]),
        )
        return failures, values[: len(others)]

    async def count_failure(self, username: str, address: str) -> bool:
        """Count a failure, and return whether it locks. Not to be called while it is locked."""
        pairs, wider = self._find_limits(username, address)
        counters = {**pairs, **wider}
        counts: list[int] = await self.kv.write(
            *[verbs.count(key, self.limits.login_window) for key in counters],
            *self._note_pairs(username, pairs),
        )
        # Or more: a count whose answer was lost is repeated, and skips a number.
        full = [
            verbs.extend(key, self.limits.lockout)
            for (key, limit), count in zip(counters.items(), counts, strict=False)
            if count >= limit
        ]
        await self.kv.write(*full)
        return bool(full)

    async def take_attempt(self, username: str, address: str) -> int:
        """Count an attempt before it is judged; return how many more may fail, less than 0 if it must not be judged.

        The pairs come first: attempts from a place that is locked do not lock the account elsewhere.
        """
        pairs, wider = self._find_limits(username, address)
        left = self.limits.login_failures
        for counters in (pairs.items(), wider.items()):
            keys = [key for key, _ in counters]
            counts: list[int] = await self.kv.write(
                *[verbs.count(key, self.limits.login_window) for key in keys],
                *(self._note_pairs(username, pairs) if keys == [*wider] else ()),
            )
            rest = [limit - count for (_, limit), count in zip(counters, counts, strict=False)]
            full = [key for key, some in zip(keys, rest, strict=True) if some == 0]
            await self.kv.write(*[verbs.extend(key, self.limits.lockout) for key in full])
            left = min(left, *rest)
            if left < 0:
                return left
        return left

    async def give_back(self, username: str, address: str, *others: Command) -> None:
        """Count an attempt no longer that was right, and forget the failures of this account at this address; and run other commands with it."""
        pairs, wider = self._find_limits(username, address)
        await self.kv.write(*map(verbs.drop, pairs), *map(verbs.uncount, wider), *others)

    async def clear(self, failures: Failures) -> None:
        """Forget the failures of this account at this address: its owner signed in. Without any, nothing is written."""
        await self.kv.write(*map(verbs.drop, failures.of_pair))

    async def forget(self, username: str) -> None:
        """Forget all failures of an account, from wherever they came."""
        account = fold_username(username)
        owner, noted = digest(account), self._pairs
        (keys,) = await self.kv.read_members(noted.last(owner, count=MOST_PLACES))
        for some in steps([*keys, self._key("account", account), noted.key(owner)]):
            await self.kv.write(*map(verbs.drop, some))

    def _note_pairs(self, username: str, pairs: Iterable[str]) -> list[Command]:
        """Return what notes the counters of an account and an address, so that an operator's `forget` finds them."""
        ends = clock() + self.limits.login_window + self.limits.lockout
        owner = digest(fold_username(username))
        return [self._pairs.add(owner, key, expires_at=ends) for key in pairs]

    @property
    def _pairs(self) -> Index:
        return Index(self.prefix, f"{self.name}p", MOST_PLACES)

    def _find_limits(
        self, username: str, address: str
    ) -> tuple[Mapping[str, int], Mapping[str, int]]:
        """Return the limits of the account at this network and at the site around it, as one site is not many places; and the wider ones.

        Those are of the account from everywhere, and of the network and the site for all accounts.
        """
        account, few = fold_username(username), self.limits.login_failures
        places, many = networks_of(address).items(), few * WIDER
        pairs = {self._key("pair", account, place): few * share for place, share in places}
        wider = {self._key("address", place): many * share for place, share in places}
        return pairs, {self._key("account", account): many, **wider}

    def _key(self, *parts: str) -> str:
        return f"{self.prefix}:{{{digest(chr(0).join(parts))}}}:{self.name}"
