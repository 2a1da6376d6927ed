"""Measures the time from the start of the service to its first answer."""

from __future__ import annotations

import time
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

BARS = {10: 0.50, 10_000: 2.7}
"""Seconds, by the number of clients."""


def measure(effort: Effort) -> list[Finding]:
    """With few and with many clients; bytecode and signing keys are there from a first start."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        redis_url = Servers(stack).redis()
        return [
            finding for clients in BARS for finding in _started(redis_url, clients, folder, effort)
        ]


def _started(redis_url: str, clients: int, folder: Path, effort: Effort) -> list[Finding]:
    """The medians of the starts after the first, which writes keys and bytecode."""
    file = with_clients(clients, folder)
    _, *starts = [_first_answer(redis_url, file) for _ in range(effort.rounds + 1)]
    return [
        Finding(
            what=f"first answer with {clients:,} clients",
            figure=median(elapsed for elapsed, _ in starts),
            unit="s",
            at_most=BARS[clients],
        ),
        Finding(
            what=f"first answer with {clients:,} clients, computed",
            figure=median(computed for _, computed in starts),
            unit="CPU-s",
        ),
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
