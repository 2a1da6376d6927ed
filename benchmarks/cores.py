"""Measures the cost of a second worker: CPU time per request of two on two cores compared with one."""

from __future__ import annotations

from contextlib import ExitStack
from statistics import median

from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.latency import introspection
from benchmarks.machine import BOTH_CPUS
from benchmarks.measured import Measured
from benchmarks.servers import Servers
from benchmarks.turns import measure as turn
from benchmarks.turns import ratio

NAMES = (
    "one worker",
    "two workers, as many connections for each",
    "two workers, as many connections for both",
)


def measure(effort: Effort) -> list[Finding]:
    """Both may use both cores, which generator and Redis share with them."""
    with ExitStack() as stack:
        servers = Servers(stack)
        redis_url = servers.redis()
        asked = introspection(redis_url)
        one = servers.service(redis_url, cpu=BOTH_CPUS)
        two = servers.service(redis_url, cpu=BOTH_CPUS, workers=2)
        measured: dict[str, list[Measured]] = {name: [] for name in NAMES}
        for _ in range(effort.rounds):
            for name, server, workers in zip(NAMES, (one, two, two), (1, 2, 1), strict=True):
                connections = effort.connections * workers
                seconds = effort.seconds
                sample = turn(server, asked, connections=connections, seconds=seconds)
                measured[name].append(sample)
    alone, each, shared = measured.values()
    return [
        *(_throughput(name, rounds) for name, rounds in measured.items()),
        Finding(
            what="CPU-seconds per request, two workers compared with one, as many connections for each",
            figure=ratio(each, alone, _cost),
            at_most=1.1,
        ),
        Finding(
            what="CPU-seconds per request, two workers compared with one, as many connections for both",
            figure=ratio(shared, alone, _cost),
        ),
    ]


def _cost(one: Measured) -> float:
    return 1 / one.per_cpu_second


def _throughput(name: str, rounds: list[Measured]) -> Finding:
    per_second = median(each.sample.requests / each.sample.seconds for each in rounds)
    return Finding(what=f"introspection, {name}", figure=per_second, unit="req/s")
