"""Measures the memory of the service, and whether it grows."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.load import Requests, drive
from benchmarks.machine import BOTH_CPUS
from benchmarks.servers import Server, Servers, features_of
from benchmarks.work import USERS
from benchmarks.works import (
    client_credentials_es256,
    client_credentials_reference,
    delegation,
    introspect_jwt,
    introspect_reference,
)

MIXED = (
    introspect_reference,
    client_credentials_reference,
    introspect_jwt,
    client_credentials_es256,
    delegation(USERS),
)
WORKERS = 2
MIB = 2**20
SETTLED = 0.2
"""The part of all requests after which the memory is what it is going to be."""
NOISE = 1.0
"""MiB that come and go."""


def measure(effort: Effort) -> list[Finding]:
    """Two workers, a process alone, and the same over many requests."""
    with ExitStack() as stack:
        redis_url = Servers(stack).redis()
        folder = Path(stack.enter_context(TemporaryDirectory()))
        asked = asyncio.run(_prepared(redis_url, folder))
        return [
            *_workers(redis_url, asked, effort),
            *_alone(Servers(stack).service(redis_url), asked, effort),
        ]


def _workers(redis_url: str, asked: list[Requests], effort: Effort) -> list[Finding]:
    with ExitStack() as stack:
        workers = Servers(stack).service(redis_url, cpu=BOTH_CPUS, workers=WORKERS)
        _used(workers, asked, effort)
        return [
            Finding(
                what="each of two workers (PSS), half of their parent with it",
                figure=_mib(workers.running.memory) / WORKERS,
                unit="MiB",
                at_most=50,
            )
        ]


def _alone(server: Server, asked: list[Requests], effort: Effort) -> list[Finding]:
    _used(server, asked, effort)
    resident, memory = server.running.resident, server.running.memory
    return [
        Finding(what="one process (RSS)", figure=_mib(resident), unit="MiB", at_most=73),
        Finding(what="one process (PSS)", figure=_mib(memory), unit="MiB", at_most=60),
        *_growth(server, asked, effort),
    ]


def _used(server: Server, asked: list[Requests], effort: Effort) -> None:
    """Let it do everything once: some of it is loaded only then."""
    for requests in asked:
        drive(server.port, requests, connections=effort.connections, seconds=1)


def _growth(server: Server, asked: list[Requests], effort: Effort) -> list[Finding]:
    """The memory after every tenth of the requests, and the growth since it settled."""
    step, done = effort.requests / 10, 0
    marks: list[tuple[int, float]] = []
    for requests in cycle(asked):
        done += drive(
            server.port, requests, connections=effort.connections, seconds=effort.seconds
        ).requests
        if done >= step * (len(marks) + 1):
            marks.append((done, _mib(server.running.resident)))
        if done >= effort.requests:
            break
    settled = next(mib for count, mib in marks if count >= SETTLED * effort.requests)
    return [
        *(
            Finding(what=f"after {count:,} requests", figure=mib, unit="MiB")
            for count, mib in marks
        ),
        Finding(
            what="growth since a fifth of the requests",
            figure=marks[-1][1] - settled,
            unit="MiB",
            at_most=NOISE,
        ),
    ]


async def _prepared(redis_url: str, folder: Path) -> list[Requests]:
    async with features_of(redis_url) as features:
        return [await prepare(features, folder, 0) for prepare in MIXED]


def _mib(size: int) -> float:
    return size / MIB
