"""Instructions that a request takes in the server's program, counted by callgrind: whatever else the machine does.

The kernel's part is not counted. That of timers is taken off: requests take so long here that it would be too large a part of
each. What a program does once, such as the next signing keys, which a new one makes, would be larger still: it is waited for, and
requests take turns with rests, so that whatever else is done once falls into few of them. Callgrind imitates a processor without the newest instructions for hashes and curves: a signature weighs more here than in
CPU time. So these figures compare one commit with another, not machines.
"""

from __future__ import annotations

import asyncio
import re
import shutil
import subprocess
import sys
from collections.abc import Awaitable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import monotonic, sleep

from aiohttp import ClientSession, DummyCookieJar, TCPConnector

from benchmarks.effort import Effort
from benchmarks.finding import Finding
from benchmarks.load import Requests
from benchmarks.machine import Running
from benchmarks.round_trips import send
from benchmarks.servers import FLOOR, SERVICE, Server, Servers, features_of
from benchmarks.users import with_users
from benchmarks.work import Work
from benchmarks.works import WORKS

WARMING, TOGETHER, TURNS, CONNECTIONS = 96, 64, 5, 32
COUNTED = TOGETHER * TURNS
CALLGRIND = (
    *("valgrind", "--tool=callgrind", "--fair-sched=yes"),
    *("--instr-atstart=no", "--callgrind-out-file=/dev/null"),
)
"""Without its fair turns the threads that hash passwords wait for that of the loop, and logins for longer than they may."""
STARTED_WITHIN = 300
"""Seconds; valgrind makes every program some twenty times slower."""
PATIENT = "store: {timeout: 1m}"
AT_REST = 5_000_000
"""Instructions in a second of a program that only has its timers, and a margin."""


def measure(effort: Effort) -> list[Finding]:
    """The instructions of each work in the service and in the floor, and the floor's part."""
    if shutil.which("valgrind") is None:
        sys.exit("instructions are counted by valgrind, which is not installed")
    works = [work for work in WORKS if (effort.only or "") in work.name]
    with ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory()))
        servers = Servers(stack, below=CALLGRIND, patience=STARTED_WITHIN)
        redis_url = servers.redis()
        service = servers.service(redis_url, configuration=with_users(folder, PATIENT))
        floor = servers.floor(redis_url)
        for server in (service, floor):
            _control(server.running, "-i", "on")
            _wait_for_rest(server.running)
        return [
            finding
            for work in works
            for finding in asyncio.run(_compare(work, service, floor, redis_url, folder))
        ]


async def _compare(
    work: Work, service: Server, floor: Server, redis_url: str, folder: Path
) -> Sequence[Finding]:
    async with features_of(redis_url, with_users(folder)) as features:
        ours = await work.prepare(features, folder, WARMING + COUNTED)
    taken = await _count(service, ours)
    least = await _count(floor, replace(ours, path=f"/{work.floor}", shows=""))
    return (
        Finding(what=f"{work.name}: {SERVICE}", figure=taken, unit="instructions"),
        Finding(what=f"{work.name}: {FLOOR}", figure=least, unit="instructions"),
        Finding(what=f"{work.name}: to the floor", figure=least / taken),
    )


async def _count(server: Server, requests: Requests) -> float:
    """The instructions of one request, once the server knows the kind of request: the median of some turns.

    What timers execute in as much time is taken off.
    """
    lines = requests.bodies.read_text().splitlines() if requests.bodies else [requests.body]
    bodies = [lines[number % len(lines)] for number in range(WARMING + COUNTED)]
    counts: list[float] = []
    connector = TCPConnector(limit=CONNECTIONS)
    async with ClientSession(connector=connector, cookie_jar=DummyCookieJar()) as session:
        await _send_all(session, server, requests, bodies[:WARMING])
        for first in range(WARMING, WARMING + COUNTED, TOGETHER):
            some, began = bodies[first : first + TOGETHER], monotonic()
            taken = await _count_until(_send_all(session, server, requests, some), server)
            timers = await _count_until(asyncio.sleep(monotonic() - began), server)
            counts.append((taken - timers) / TOGETHER)
    return median(counts)


async def _count_until(done: Awaitable[None], server: Server) -> int:
    before = _instructions(server.running)
    await done
    return _instructions(server.running) - before


async def _send_all(
    session: ClientSession, server: Server, requests: Requests, bodies: Sequence[str | None]
) -> None:
    url = f"http://127.0.0.1:{server.port}{requests.path}"
    async with asyncio.TaskGroup() as group:
        for body in bodies:
            group.create_task(send(session, url, requests, body))


def _wait_for_rest(running: Running) -> None:
    """Wait until the program has done what it does once after its start."""
    per_second = float("inf")
    while per_second > AT_REST:
        before, began = _instructions(running), monotonic()
        sleep(1)
        per_second = (_instructions(running) - before) / (monotonic() - began)


def _instructions(running: Running) -> int:
    """All that have been counted, in all threads."""
    counts = re.findall(r"^ +Th \d+ +([\d,]+)", _control(running, "-e"), re.MULTILINE)
    return sum(int(count.replace(",", "")) for count in counts)


def _control(running: Running, *arguments: str) -> str:
    command = ["callgrind_control", *arguments, str(running.pid)]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout
