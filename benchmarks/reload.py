"""Measures whether a reload of 10,000 clients delays requests, and how long it takes under load."""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from benchmarks.clients import with_clients
from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.latency import introspection
from benchmarks.load import Requests
from benchmarks.machine import BOTH_CPUS, SERVER_CPU
from benchmarks.paced import Paced
from benchmarks.servers import Server, Servers

CLIENTS = 10_000
LOOK_AGAIN = 0.1
"""Seconds after which it is asked again whether the reload is over."""


def measure(effort: Effort) -> list[Finding]:
    """Introspection at a steady pace, alone and while the registry is read again."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        servers = Servers(stack)
        redis_url = servers.redis()
        asked = introspection(redis_url)
        file = with_clients(CLIENTS, folder)
        return [
            finding
            for where, cpu in (("one core", SERVER_CPU), ("two cores", BOTH_CPUS))
            for finding in _measure(
                servers.service(redis_url, cpu=cpu, configuration=file), file, where, asked, effort
            )
        ]


def _measure(
    server: Server, file: Path, where: str, asked: Requests, effort: Effort
) -> list[Finding]:
    alone: list[Paced] = []
    beside: list[Paced] = []
    took: list[float] = []
    with ThreadPoolExecutor() as threads:
        for _ in range(effort.rounds):
            pause = threads.submit(time.sleep, effort.seconds)
            alone.append(_paced(server, asked, pause.done))
            _add_a_client(file)
            reload = threads.submit(_reload, server)
            beside.append(_paced(server, asked, reload.done))
            took.append(reload.result())
    return [
        *_told(f"{where}: introspection alone", alone),
        *_told(f"{where}: introspection during a reload", beside),
        Finding(what=f"{where}: the reload during introspections", figure=median(took), unit="s"),
    ]


def _paced(server: Server, asked: Requests, over: Callable[[], bool]) -> Paced:
    paced = Paced(server.port, asked)
    paced.run(over)
    return paced


def _reload(server: Server) -> float:
    """Seconds until another generation is in force."""
    before, began = _generation(server), time.monotonic()
    os.kill(server.running.pid, signal.SIGHUP)
    while _generation(server) == before:
        time.sleep(LOOK_AGAIN)
    return time.monotonic() - began


def _told(what: str, paced: list[Paced]) -> list[Finding]:
    return [
        Finding(
            what=f"{what}, p{percent}",
            figure=median(each.percentile(percent) for each in paced),
            unit="ms",
        )
        for percent in (50, 99)
    ] + [Finding(what=f"{what}, longest", figure=median(each.longest for each in paced), unit="ms")]


def _add_a_client(file: Path) -> None:
    """Make another registry of it; the last client is copied under a name of its own."""
    text = file.read_text()
    last = text[text.index(f"  - client_id: client{CLIENTS - 1}\n") :]
    entry = last[: last.index("  - client_id: ", 5)]
    renamed = entry.replace(f"client{CLIENTS - 1}", f"client-{time.monotonic_ns()}")
    file.write_text(text.replace(entry, entry + renamed))


def _generation(server: Server) -> str:
    with urlopen(f"http://127.0.0.1:{server.port}/health/ready") as ready:
        generation: str = json.load(ready)["registry"]
        return generation
