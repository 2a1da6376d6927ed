"""Every work at every server in turns: the table."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks import peer, round_trips
from benchmarks.effort import Effort
from benchmarks.load import Requests
from benchmarks.servers import FLOOR, PEER, SERVICE, Server, Servers, features_of
from benchmarks.table import Table
from benchmarks.turns import measure
from benchmarks.users import with_users
from benchmarks.work import Work
from benchmarks.works import WORKS

PEER_PER_SECOND = 6_000
"""More than node-oidc-provider can serve of what each request uses up."""


def table(effort: Effort) -> Table:
    """Measure; medians of interleaved rounds."""
    works = [work for work in WORKS if not effort.only or effort.only in work.name]
    asked = asyncio.run(round_trips.count(works))
    result = Table(works=works, rounds=effort.rounds, asked=asked)
    for _ in range(effort.rounds):
        _measure_round(result, effort)
    return result


def _measure_round(result: Table, effort: Effort) -> None:
    """Measure each work once, by new processes: where one has its memory makes some percent, as long as it runs."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        starting = Servers(stack)
        redis_url = starting.redis()
        configuration = with_users(folder)
        servers = {
            SERVICE: starting.service(redis_url, configuration=configuration),
            FLOOR: starting.floor(redis_url),
        }
        if effort.peers:
            servers[PEER] = starting.peer(redis_url)
        for work in result.works:
            for name, requests in _asked(work, redis_url, folder, servers, effort).items():
                one = measure(
                    servers[name],
                    requests,
                    connections=effort.connections,
                    seconds=effort.seconds,
                )
                result.add(work, name, one)
        for name, server in servers.items():
            result.mib[name] = server.running.memory / 2**20


def _asked(
    work: Work, redis_url: str, folder: Path, servers: Mapping[str, Server], effort: Effort
) -> dict[str, Requests]:
    """The requests that each server gets in this work; the floor gets those of the service."""
    ours = asyncio.run(_prepare(work, redis_url, folder, effort.seconds))
    asked = {SERVICE: ours, FLOOR: replace(ours, path=f"/{work.floor}")}
    if PEER in servers and work.floor in peer.WORKS:
        most = PEER_PER_SECOND * effort.seconds
        asked[PEER] = peer.WORKS[work.floor](servers[PEER].port, folder, most)
    return asked


async def _prepare(work: Work, redis_url: str, folder: Path, seconds: int) -> Requests:
    async with features_of(redis_url, with_users(folder)) as features:
        return await work.prepare(
            features, folder, work.most_per_second * seconds if work.once else 0
        )
