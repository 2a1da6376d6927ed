"""Holding many connections keeps nobody out: the files of a process are many, and shared between networks."""

from __future__ import annotations

import asyncio
import re
import resource
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from service.web.server import connections
from tests.conftest import Start
from tests.driving.redis_servers import RedisServer
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService
from tests.operations.conftest import Serve

HERE, THERE = "127.0.0.1", "127.0.0.2"
ASKED = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
BODY_BEGUN = (
    b"POST /connect/token HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n"
    b"Content-Type: application/x-www-form-urlencoded\r\n\r\ngrant_type="
)


def test_one_address_that_holds_all_connections_keeps_no_caller_out(serve: Serve) -> None:
    program = serve()
    port = urlsplit(program.url()).port or 0
    _leave_files(program.process.pid, 40)
    with ExitStack() as held:
        oldest = held.enter_context(_connection(port, THERE))
        for _ in range(300):
            held.enter_context(_connection(port, HERE))
        assert all(_is_served(port, THERE) for _ in range(50))
        assert "open_files" in program.wait_for("connections dropped")
        assert _is_answered(oldest)


def test_bodies_that_do_not_come_keep_no_caller_out(serve: Serve) -> None:
    program = serve()
    port = urlsplit(program.url()).port or 0
    _leave_files(program.process.pid, 40)
    with ExitStack() as held:
        for _ in range(100):
            held.enter_context(_connection(port, HERE)).sendall(BODY_BEGUN)
        assert all(_is_served(port, THERE) for _ in range(50))


@pytest.mark.parametrize("workers", ["1", "2"])
@pytest.mark.usefixtures("on_redis")
def test_soft_limit_of_open_files_is_raised_at_the_start(
    serve: Serve, redis: RedisServer, workers: str
) -> None:
    redis.start()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(512, hard), hard))
    try:
        program = serve("--workers", workers, PYTHONUNBUFFERED="1")  # a process of its own
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    program.url()
    pids = [program.process.pid, *_children(program.process.pid)]
    assert {resource.prlimit(pid, resource.RLIMIT_NOFILE) for pid in pids} == {(hard, hard)}


class Callers:
    """Open connections to a service from chosen addresses."""

    def __init__(self, service: RunningService) -> None:
        self._port = urlsplit(service.issuer).port
        self._writers: list[asyncio.StreamWriter] = []

    async def call(self, address: str, *, sent: bytes = ASKED) -> asyncio.StreamReader:
        """Open one and send a request; wait for the answer if all of it was sent."""
        reader, writer = await asyncio.open_connection(
            "127.0.0.1", self._port, local_addr=(address, 0)
        )
        self._writers.append(writer)
        writer.write(sent)
        if sent == ASKED:
            assert (await reader.readuntil(b'"}')).startswith(b"HTTP/1.1 200")
        return reader

    def close(self) -> None:
        for each in self._writers:
            each.transport.abort()


@pytest.fixture
def config() -> dict[str, Any]:
    return fresh_configuration() | {"server": {"trusted_proxies": ["127.0.0.3"]}}


@pytest.fixture
async def callers(
    start: Start, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Callers]:
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", 4)
    callers = Callers(await start(config))
    yield callers
    callers.close()


async def test_network_with_most_connections_makes_room(callers: Callers) -> None:
    oldest = await callers.call(THERE)
    first, *others = [await callers.call(HERE) for _ in range(3)]
    newest = await callers.call("127.0.0.4")
    assert await asyncio.wait_for(first.read(), 30) == b""
    assert not any(each.at_eof() for each in (oldest, newest, *others))


async def test_connection_of_a_trusted_proxy_is_the_last_to_make_room(callers: Callers) -> None:
    proxied = [await callers.call("127.0.0.3") for _ in range(3)]
    direct = await callers.call(HERE)
    newest = await callers.call("127.0.0.3")
    assert await asyncio.wait_for(direct.read(), 30) == b""
    assert not any(each.at_eof() for each in (newest, *proxied))


async def test_unfinished_requests_make_room_for_whole_ones(callers: Callers) -> None:
    begun, *_ = [await callers.call(HERE, sent=BODY_BEGUN) for _ in range(4)]
    await callers.call(THERE)
    assert await asyncio.wait_for(begun.read(), 30) == b""


def _leave_files(pid: int, number: int) -> None:
    """Let a process open so many more files for connections."""
    opened = len(list(Path(f"/proc/{pid}/fd").iterdir()))
    limit = opened + connections.FILES_RESERVED + number
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, limit))


def _connection(port: int, address: str) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=30, source_address=(address, 0))


def _is_served(port: int, address: str) -> bool:
    with _connection(port, address) as connection:
        return _is_answered(connection)


def _is_answered(connection: socket.socket) -> bool:
    connection.sendall(ASKED)
    return connection.recv(12) == b"HTTP/1.1 200"


def _children(pid: int) -> Iterator[int]:
    listed = Path(f"/proc/{pid}/task/{pid}/children").read_text()
    return map(int, re.findall(r"\d+", listed))
