"""How soon the service answers after its start."""

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

BARS = {10: 1.0, 10_000: 2.5}
"""Seconds, by the number of clients."""


def measure(effort: Effort) -> list[Finding]:
    """With few and with many clients; bytecode and signing keys are there from a first start."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        redis_url = Servers(stack).redis()
        return [_started(redis_url, clients, folder, effort) for clients in BARS]


def _started(redis_url: str, clients: int, folder: Path, effort: Effort) -> Finding:
    """The median of the starts after the first, which writes keys and bytecode."""
    file = with_clients(clients, folder)
    first, *starts = [_first_answer(redis_url, file) for _ in range(effort.rounds + 1)]
    return Finding(
        what=f"first answer with {clients:,} clients (the very first: {first:.2f} s)",
        figure=median(starts),
        unit="s",
        at_most=BARS[clients],
    )


def _first_answer(redis_url: str, configuration: Path) -> float:
    """Seconds from the start of the process to the key set, which needs configuration and keys."""
    port = free_port()
    began = time.monotonic()
    with (
        serving(redis_url, port, configuration=configuration),
        urlopen(f"http://127.0.0.1:{port}/.well-known/jwks.json") as answer,
    ):
        answer.read()
        return time.monotonic() - began
