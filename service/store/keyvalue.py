"""The few atomic verbs that everything stored is built from; the only file that knows redis-py."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from contextvars import ContextVar
from time import monotonic
from typing import Any, TypeVar, overload

from redis.exceptions import RedisError, WatchError

from service.protocol.errors import TemporarilyUnavailable
from service.store.verbs import Read, Write

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")

deadline: ContextVar[float | None] = ContextVar("deadline", default=None)
"""When all store work of the current request has to be over, on the monotonic clock."""


class StoreUnavailable(TemporarilyUnavailable):
    """Redis did not answer in time, or refused to; never to be taken for an empty answer."""


class KeyValue:
    """Redis as this service uses it: each call is one round trip, under one deadline per request."""

    def __init__(self, redis: Any, *, timeout: float) -> None:
        """Take a connected client of redis-py (or fakeredis) and the seconds a command may take."""
        self._redis = redis
        self._timeout = timeout
        self._away_since: float | None = None
        self.failures = 0
        """How many calls have failed since the start."""

    @property
    def seconds_away(self) -> float:
        """For how long Redis has not been reachable; 0 while it is."""
        return 0.0 if self._away_since is None else monotonic() - self._away_since

    @overload
    async def read(self, a: Read[A], /) -> tuple[A | None]: ...
    @overload
    async def read(self, a: Read[A], b: Read[B], /) -> tuple[A | None, B | None]: ...
    @overload
    async def read(
        self, a: Read[A], b: Read[B], c: Read[C], /
    ) -> tuple[A | None, B | None, C | None]: ...
    @overload
    async def read(self, *reads: Read[T]) -> tuple[T | None, ...]: ...
    async def read(self, *reads: Read[Any]) -> tuple[Any, ...]:
        """The decoded values of all these keys, None for each that is not there."""
        async with self._reaching():
            if len(reads) == 1:
                values = [await self._redis.get(reads[0].key)]
            else:
                pipeline = self._redis.pipeline(transaction=False)
                for read in reads:
                    pipeline.get(read.key)
                values = await pipeline.execute()
        return tuple(
            None if value is None else read.decode(value)
            for read, value in zip(reads, values, strict=True)
        )

    async def write(self, *writes: Write) -> list[Any]:
        """Do all of these in this order; one answer for each, as its class says."""
        async with self._reaching():
            pipeline = self._redis.pipeline(transaction=False)
            counts = [write.onto(pipeline) for write in writes]
            answers = await pipeline.execute()
        return [answers[index] for index in _running_totals(counts)]

    async def members(self, index: str, *, now: int) -> tuple[str, ...]:
        """The members of an index that have not expired."""
        async with self._reaching():
            found = await self._redis.zrangebyscore(index, f"({now}", "+inf")
        return tuple(member.decode() for member in found)

    async def get(self, key: str) -> bytes | None:
        """The raw value of a key, for `replace`."""
        async with self._reaching():
            value: bytes | None = await self._redis.get(key)
        return value

    async def replace(self, key: str, *, old: bytes | None, new: bytes) -> bool:
        """Compare and set a key that never expires; whether it still was `old` and is now `new`."""
        async with self._reaching():
            if old is None:
                return bool(await self._redis.set(key, new, nx=True))
            async with self._redis.pipeline(transaction=True) as transaction:
                await transaction.watch(key)
                if await transaction.get(key) != old:
                    return False
                transaction.multi()
                transaction.set(key, new)
                try:
                    await transaction.execute()
                except WatchError:
                    return False
                return True

    async def keys(self, pattern: str) -> AsyncIterator[str]:
        """Every key that matches a glob pattern; walks the whole store, so only for operators."""
        try:
            async for key in self._redis.scan_iter(match=pattern, count=1000):
                yield key.decode()
        except (RedisError, OSError, TimeoutError) as error:
            raise StoreUnavailable("the store cannot be reached") from error

    async def ping(self) -> None:
        """Raise StoreUnavailable where Redis does not answer."""
        async with self._reaching():
            await self._redis.ping()

    async def eviction_policy(self) -> str | None:
        """What Redis does when it is full, or None where it does not tell."""
        try:
            async with self._reaching():
                answer = await self._redis.config_get("maxmemory-policy")
        except StoreUnavailable:
            return None
        policy = answer.get("maxmemory-policy", answer.get(b"maxmemory-policy"))
        return policy.decode() if isinstance(policy, bytes) else policy

    async def close(self) -> None:
        """Give the connections back."""
        await self._redis.aclose()

    @asynccontextmanager
    async def _reaching(self) -> AsyncGenerator[None]:
        """Bound the time, and turn all trouble with Redis into StoreUnavailable."""
        try:
            async with asyncio.timeout(self._seconds_left()):
                yield
        except (RedisError, OSError, TimeoutError) as error:
            self.failures += 1
            if self._away_since is None:
                self._away_since = monotonic()
            raise StoreUnavailable("the store cannot be reached") from error
        self._away_since = None

    def _seconds_left(self) -> float:
        end = deadline.get()
        return self._timeout if end is None else min(self._timeout, end - monotonic())


def _running_totals(counts: Sequence[int]) -> list[int]:
    """Where the last answer of each write stands among the answers of all commands."""
    position = -1
    positions: list[int] = []
    for count in counts:
        position += count
        positions.append(position)
    return positions
