"""Measures the time from the start of the service to its first answer."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from benchmarks.clients import with_clients
from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.machine import free_port
from benchmarks.servers import Servers, serving

FEW = 10
BARS = {FEW: 0.50, 10_000: 2.7}
"""Seconds, by the number of clients."""


def measure(effort: Effort) -> list[Finding]:
    """With few and with many clients, whose bytecode and signing keys are there from a first start; and without keys."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        servers = Servers(stack)
        redis_url = servers.redis()
        kept = [
            finding for clients in BARS for finding in _started(redis_url, clients, folder, effort)
        ]
        return kept + _started_first(servers, folder, effort)


def _started(redis_url: str, clients: int, folder: Path, effort: Effort) -> list[Finding]:
    """The medians of the starts after the first, which writes keys and bytecode."""
    file = with_clients(clients, folder)
    _, *starts = [_first_answer(redis_url, file) for _ in range(effort.rounds + 1)]
    return _medians(f"first answer with {clients:,} clients", starts, at_most=BARS[clients])


def _started_first(servers: Servers, folder: Path, effort: Effort) -> list[Finding]:
    """The medians of starts that find an empty Redis and have to make the signing keys."""
    file = with_clients(FEW, folder)
    starts = [_first_answer(servers.redis(), file) for _ in range(effort.rounds)]
    return _medians("first answer with an empty Redis", starts, at_most=None)


def _medians(
    what: str, starts: Sequence[tuple[float, float]], *, at_most: float | None
) -> list[Finding]:
    elapsed, computed = (median(figures) for figures in zip(*starts, strict=True))
    return [
        Finding(what=what, figure=elapsed, unit="s", at_most=at_most),
        Finding(what=f"{what}, computed", figure=computed, unit="CPU-s"),
    ]


def _first_answer(redis_url: str, configuration: Path) -> tuple[float, float]:
    """Seconds from the process's start to the key set, which needs configuration and keys; CPU time, too."""
    port = free_port()
    began = time.monotonic()
    with (
        serving(redis_url, port, configuration=configuration) as running,
        urlopen(f"http://127.0.0.1:{port}/.well-known/jwks.json") as answer,
    ):
        answer.read()
        return time.monotonic() - began, running.cpu_seconds
