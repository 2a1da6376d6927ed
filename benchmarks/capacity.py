"""Measures the memory that each kind of record takes in Redis: the record, its place in an index, and their keys."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack

from redis import Redis

from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.kept import KINDS, Make
from benchmarks.servers import Servers, features_of
from service.wiring.features import Features

COUNT = 20_000
"""Of each; enough for Redis' own tables to be as full as they are on the average."""
AT_ONCE = 500
MOST_FOR_A_TOKEN = 600
GIB = 2**30


def measure(effort: Effort) -> list[Finding]:
    """Bytes for each, and how many one GiB holds."""
    with ExitStack() as stack:
        return asyncio.run(_measured(Servers(stack).redis(), effort))


async def _measured(redis_url: str, effort: Effort) -> list[Finding]:
    findings: list[Finding] = []
    with Redis.from_url(redis_url) as redis:
        async with features_of(redis_url) as features:
            for kind in KINDS:
                if (effort.only or "") in kind.name:
                    size = await _size(redis, features, kind.make)
                    bar = MOST_FOR_A_TOKEN if kind.name == "reference token" else None
                    findings += [
                        Finding(what=kind.name, figure=size, unit="bytes", at_most=bar),
                        Finding(
                            what=f"{kind.name}: in one GiB", figure=GIB / size / 1e6, unit="million"
                        ),
                    ]
    return findings


async def _size(redis: Redis, features: Features, make: Make) -> float:
    """Of one, as Redis' memory grows by many in an empty Redis."""
    redis.flushall()
    empty = _used(redis)
    for first in range(0, COUNT, AT_ONCE):
        await asyncio.gather(*[make(features, number) for number in range(first, first + AT_ONCE)])
    return (_used(redis) - empty) / COUNT


def _used(redis: Redis) -> int:
    used: int = redis.info("memory")["used_memory"]
    return used
