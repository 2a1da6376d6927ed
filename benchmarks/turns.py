"""Servers that are measured in turns, so that what disturbs one disturbs the others, too."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from statistics import median

from benchmarks.load import Requests, drive
from benchmarks.measured import Measured
from benchmarks.servers import Server

Figure = Callable[[Measured], float]


def in_turns(
    asked: Mapping[str, tuple[Server, Requests]], *, rounds: int, connections: int, seconds: int
) -> dict[str, list[Measured]]:
    """Every round of every server."""
    measured: dict[str, list[Measured]] = {name: [] for name in asked}
    for _ in range(rounds):
        for name, (server, requests) in asked.items():
            measured[name].append(
                measure(server, requests, connections=connections, seconds=seconds)
            )
    return measured


def measure(server: Server, requests: Requests, *, connections: int, seconds: int) -> Measured:
    """One round at one server."""
    before = server.running.cpu_seconds
    sample = drive(server.port, requests, connections=connections, seconds=seconds)
    return Measured(sample, server.running.cpu_seconds - before)


def ratio(ours: Sequence[Measured], theirs: Sequence[Measured], figure: Figure) -> float:
    """The median of the ratios of each round."""
    return median(figure(a) / figure(b) for a, b in zip(ours, theirs, strict=True))
