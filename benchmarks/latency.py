"""Measures the latency of introspection on one connection and on many."""

from __future__ import annotations

import asyncio
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median

from benchmarks import peer
from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.load import Requests
from benchmarks.machine import BOTH_CPUS
from benchmarks.measured import Measured
from benchmarks.servers import FLOOR, PEER, SERVICE, Server, Servers, features_of
from benchmarks.turns import Figure, in_turns, ratio
from benchmarks.works import introspect_reference

MANY = 128


def measure(effort: Effort) -> list[Finding]:
    """Compared with the floor, and with node-oidc-provider with two workers each."""
    with ExitStack() as stack:
        servers = Servers(stack)
        redis_url = servers.redis()
        asked = introspection(redis_url)
        beside_floor = {
            SERVICE: (servers.service(redis_url), asked),
            FLOOR: (servers.floor(redis_url), replace(asked, path="/introspect-reference")),
        }
        findings = [*_one(beside_floor, effort), *_many(beside_floor, effort)]
        if effort.peers:
            findings += _beside_peer(servers, redis_url, asked, effort)
    return findings


def introspection(redis_url: str) -> Requests:
    """A reference token, asked about again and again."""

    async def prepare() -> Requests:
        async with features_of(redis_url) as features:
            return await introspect_reference(features, Path(), 0)

    return asyncio.run(prepare())


def _one(asked: dict[str, tuple[Server, Requests]], effort: Effort) -> list[Finding]:
    measured = in_turns(asked, rounds=effort.rounds, connections=1, seconds=effort.seconds)
    return [
        *_told("one connection, p50", measured, _p50),
        Finding(
            what="one connection, p50 compared with the floor",
            figure=ratio(measured[SERVICE], measured[FLOOR], _p50),
            at_most=1.3,
        ),
    ]


def _many(asked: dict[str, tuple[Server, Requests]], effort: Effort) -> list[Finding]:
    measured = in_turns(asked, rounds=effort.rounds, connections=MANY, seconds=effort.seconds)
    return [
        *_told(f"{MANY} connections, p99", measured, _p99),
        Finding(
            what=f"{MANY} connections, p99 compared with the floor",
            figure=ratio(measured[SERVICE], measured[FLOOR], _p99),
            at_most=2.0,
        ),
    ]


def _beside_peer(
    servers: Servers, redis_url: str, asked: Requests, effort: Effort
) -> list[Finding]:
    theirs = servers.peer(redis_url, cpu=BOTH_CPUS, workers=2)
    of_theirs = peer.WORKS["introspect-reference"](theirs.port, Path(), 0)
    measured = in_turns(
        {
            SERVICE: (servers.service(redis_url, cpu=BOTH_CPUS, workers=2), asked),
            PEER: (theirs, of_theirs),
        },
        rounds=effort.rounds,
        connections=MANY,
        seconds=effort.seconds,
    )
    return [
        *_told(f"{MANY} connections, two workers, p99", measured, _p99),
        Finding(
            what=f"{MANY} connections, two workers, p99 compared with node-oidc-provider",
            figure=ratio(measured[SERVICE], measured[PEER], _p99),
            at_most=0.25,
        ),
    ]


def _told(what: str, measured: dict[str, list[Measured]], of: Figure) -> list[Finding]:
    return [
        Finding(what=f"{what}, {name}", figure=1000 * median(map(of, rounds)), unit="ms")
        for name, rounds in measured.items()
    ]


def _p50(one: Measured) -> float:
    return one.sample.p50


def _p99(one: Measured) -> float:
    return one.sample.p99
