"""Connections are bounded: their number, unfinished heads, and answers that nobody reads."""

from __future__ import annotations

import asyncio
import re
import resource
import signal
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx2
import pytest

from service.events.timings import RequestAnswered
from service.web.server import connections
from service.web.server.connections import DropReason
from tests.driving.program import SECONDS, eventually
from tests.driving.service import RunningService
from tests.operations.conftest import Serve

WHOLE = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
PART = b"GET /health/live HTTP/1.1\r\nHost: x\r\nX-Part: "
LARGE = b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n"
DISCOVERY = "/.well-known/openid-configuration"
ASKED = b"GET %s HTTP/1.1\r\nHost: x\r\n\r\n" % DISCOVERY.encode()
PIPELINED, ONE_BY_ONE = (ASKED * 6000,), (ASKED,) * 6000

Open = Callable[..., Awaitable[asyncio.StreamReader]]


@pytest.fixture(autouse=True)
def _checked_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "SECONDS_BETWEEN_CHECKS", 0.02)


@pytest.fixture
async def connect(service: RunningService) -> AsyncIterator[Open]:
    """Opens connections, sends bytes there, and reads nothing."""
    async with AsyncExitStack() as opened:

        async def connected(sent: bytes = b"") -> asyncio.StreamReader:
            reader, writer = await opened.enter_async_context(_connection(service))
            writer.write(sent)
            return reader

        yield connected


async def test_open_connections_are_shown(service: RunningService, connect: Open) -> None:
    for sent in (b"", WHOLE, PART):
        await connect(sent)
    await _until(service, "connections", lambda value: value == 4)  # one asks for the metrics


async def test_a_client_that_reads_no_answers_is_disconnected(
    service: RunningService, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "WRITE_SECONDS", 0.2)
    await connect(LARGE * 3000)
    await _until_dropped(service, "unread")


@pytest.mark.parametrize("asked", [PIPELINED, ONE_BY_ONE], ids=["aiohttp", "fast-lane"])
async def test_unread_answers_are_limited(
    service: RunningService, monkeypatch: pytest.MonkeyPatch, asked: tuple[bytes, ...]
) -> None:
    monkeypatch.setattr(connections, "WRITE_SECONDS", 0.2)
    document = await service.get(DISCOVERY)
    service.events.clear()
    async with _connection(service) as (_, writer):
        for each in asked:
            writer.write(each)
            await asyncio.sleep(0)
        await _until_dropped(service, "unread")
    answered = [each for each in service.events if isinstance(each, RequestAnswered)]
    sent = sum(len(document.body) for each in answered if each.endpoint == DISCOVERY)
    assert 0 < sent < 16 * connections.BUFFER_BYTES  # its own system takes some, too


async def test_a_head_that_does_not_end_is_disconnected(
    service: RunningService, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    head = await connect(PART)
    assert await asyncio.wait_for(head.read(), 30) == b""
    await _until_dropped(service, "slow_head")


async def test_a_second_head_that_does_not_end_is_disconnected(
    service: RunningService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "HEAD_SECONDS", 0.2)
    async with _connection(service) as (reader, writer):
        writer.write(WHOLE)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
        writer.write(PART)
        await asyncio.wait_for(reader.read(), 30)
    await _until_dropped(service, "slow_head")


async def test_of_too_many_unfinished_heads_the_oldest_is_disconnected(
    service: RunningService, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_UNFINISHED_HEADS", 2)
    heads = [await connect(PART) for _ in range(3)]
    assert await asyncio.wait_for(heads[0].read(), 30) == b""
    await _until_dropped(service, "too_many_heads")


async def test_of_too_many_connections_an_idle_one_is_disconnected(
    service: RunningService, connect: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 3)
    idle = [await connect() for _ in range(3)]
    newest = await connect(WHOLE)
    assert (await newest.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200")
    assert await asyncio.wait_for(idle[0].read(), 30) == b""
    await _until_dropped(service, "too_many")


@pytest.mark.rfc("6585#5")
async def test_unfinished_head_has_the_same_limit_as_a_finished_one(connect: Open) -> None:
    reader = await connect(
        b"GET / HTTP/1.1\r\nHost: x\r\n" + b"X-Part: %s\r\n" % (b"x" * 60_000) * 2
    )
    answer = await asyncio.wait_for(reader.read(), 30)
    assert answer.startswith(b"HTTP/1.1 431 ")
    assert answer.endswith(
        b'\r\n\r\n{"error":"invalid_request","error_description":"Request Header Fields Too Large"}'
    )
    assert b"xxx" not in answer


def test_reaching_the_limit_of_open_files_is_logged(serve: Serve) -> None:
    program = serve()
    url = urlsplit(program.url())
    files = len(list(Path(f"/proc/{program.process.pid}/fd").iterdir()))
    limit = files + connections.FILES_RESERVED + 10
    resource.prlimit(program.process.pid, resource.RLIMIT_NOFILE, (limit, limit))
    with ExitStack() as callers:
        for _ in range(30):
            callers.enter_context(
                socket.create_connection((url.hostname, url.port), timeout=SECONDS)
            )
        assert "open_files" in program.wait_for("connections dropped")
    eventually(lambda: _is_alive(url.geturl()))


def test_clients_that_read_no_answers_do_not_delay_the_end(serve: Serve, config_file: Path) -> None:
    slowly = "shutdown_grace: 60s\n  shutdown_linger: 0s"
    config_file.write_text(config_file.read_text().replace("shutdown_grace: 2s", slowly))
    program = serve()
    url = urlsplit(program.url())
    with socket.create_connection((url.hostname, url.port), timeout=SECONDS) as connection:
        _fill(connection)
        program.send(signal.SIGTERM)
        assert "unread" in program.wait_for("connections dropped")
        assert program.ended() == 0
    assert not [line for line in program.rest() if "grace is over" in line]


def _fill(connection: socket.socket) -> None:
    """Ask until the service takes no more requests, because its answers find no room."""
    connection.sendall(LARGE)
    connection.recv(1)  # it answers
    connection.settimeout(3)
    try:
        while True:
            connection.sendall(LARGE * 100)
    except TimeoutError:
        return


def _is_alive(url: str) -> bool:
    try:
        return httpx2.get(f"{url}/health/live").status_code == 200
    except httpx2.TransportError:
        return False


@asynccontextmanager
async def _connection(
    service: RunningService,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    port = urlsplit(service.issuer).port
    reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**10)
    yield reader, writer
    writer.transport.abort()


async def _until_dropped(service: RunningService, reason: DropReason) -> None:
    await _until(
        service, f'connections_dropped_total{{reason="{reason}"}}', lambda value: value >= 1
    )


async def _until(service: RunningService, series: str, holds: Callable[[float], bool]) -> None:
    """Wait until a metric has a value."""
    line = re.compile(rf"^token_service_{re.escape(series)} (\S+)$", re.MULTILINE)
    async with asyncio.timeout(30):
        while True:
            found = line.search((await service.get("/metrics")).body.decode())
            if found is not None and holds(float(found[1])):
                return
            await asyncio.sleep(0.02)
