"""The guarded client reaches nothing on this machine or its networks, whatever the URL looks like."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from ipaddress import ip_network
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from service.model.outgoing import HttpRequest, Unreachable
from service.outgoing.guard import AddressPolicy
from service.outgoing.http_client import GUARDED_PER_HOST, MAX_BODY, OutgoingHttp
from tests.driving.listening import serving

pytestmark = pytest.mark.rfc("7591#5", "openid-core#6.2")

LOOPBACK = (ip_network("127.0.0.0/8"), ip_network("::1/128"))


@dataclass
class Site:
    """A plain server on loopback that counts its visitors."""

    port: int = 0
    visits: list[str] = field(default_factory=list)
    may_answer: asyncio.Event = field(default_factory=asyncio.Event)
    """What `/slow` waits for."""

    async def visit(self, request: web.Request) -> web.StreamResponse:
        """Whatever the path asks for."""
        self.visits.append(f"{request.method} {request.path}")
        if request.path == "/redirect":
            raise web.HTTPFound("/elsewhere")
        if request.path == "/slow":
            await self.may_answer.wait()
        if request.path == "/long":
            return web.Response(body=b"x" * (MAX_BODY + 1))
        return web.Response(text="hello")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """The server, by both families where the machine has both."""
    site = Site()
    app = web.Application()
    app.router.add_route("*", "/{path:.*}", site.visit)
    async with serving(app) as origin:
        site.port = int(origin.rpartition(":")[2])
        yield site
        site.may_answer.set()


@pytest.fixture
async def guarded() -> AsyncIterator[OutgoingHttp]:
    """With no exception."""
    guarded = OutgoingHttp(timeout=30, ca_file=None, policy=AddressPolicy(()))
    yield guarded
    await guarded.close()


@pytest.fixture
async def exempt(certificate: Path) -> AsyncIterator[OutgoingHttp]:
    """A client for an operator that allows loopback."""
    policy = AddressPolicy(LOOPBACK)
    exempt = OutgoingHttp(timeout=60, ca_file=certificate, policy=policy)
    yield exempt
    await exempt.close()


@pytest.fixture
async def impatient() -> AsyncIterator[OutgoingHttp]:
    """Waits for an answer hardly at all."""
    impatient = OutgoingHttp(timeout=0.5, ca_file=None, policy=AddressPolicy(LOOPBACK))
    yield impatient
    await impatient.close()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "0",
        "2130706433",
        "0x7f000001",
        "127.1",
        "localhost.",
    ],
)
async def test_no_spelling_of_loopback_is_reached(
    guarded: OutgoingHttp, site: Site, scheme: str, host: str
) -> None:
    with pytest.raises(Unreachable):
        await guarded.fetch(HttpRequest(f"{scheme}://{host}:{site.port}/"))
    with pytest.raises(Unreachable):
        await guarded.fetch(HttpRequest(f"{scheme}://{host}:{site.port}/", {"logout_token": "x"}))
    assert site.visits == []


async def test_a_name_is_judged_by_the_address_that_is_connected_to(
    guarded: OutgoingHttp, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    def resolved(*_: Any, **__: Any) -> list[Any]:
        kind = (socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        return [(*kind, "", ("127.0.0.1", site.port))]

    monkeypatch.setattr(socket, "getaddrinfo", resolved)
    with pytest.raises(Unreachable, match="Connect"):
        await guarded.fetch(HttpRequest(f"https://public.example:{site.port}/"))
    assert site.visits == []


async def test_an_allowed_network_is_reached_by_http_too(exempt: OutgoingHttp, site: Site) -> None:
    answer = await exempt.fetch(HttpRequest(f"http://localhost:{site.port}/"))
    assert (answer.status, answer.body) == (200, b"hello")
    assert (
        await exempt.fetch(HttpRequest(f"http://127.0.0.1:{site.port}/", {"a": "b"}))
    ).status == 200


@pytest.mark.needs("openssl")
async def test_an_allowed_network_is_reached_by_https(exempt: OutgoingHttp, https: str) -> None:
    assert (await exempt.fetch(HttpRequest(https))).status == 404


async def test_a_redirect_is_not_followed(exempt: OutgoingHttp, site: Site) -> None:
    assert (await exempt.fetch(HttpRequest(f"http://127.0.0.1:{site.port}/redirect"))).status == 302
    assert site.visits == ["GET /redirect"]


async def test_an_answer_that_does_not_come_is_unreachable(
    impatient: OutgoingHttp, site: Site
) -> None:
    with pytest.raises(Unreachable):
        await impatient.fetch(HttpRequest(f"http://127.0.0.1:{site.port}/slow"))


async def test_an_answer_that_is_too_long_is_unreachable(exempt: OutgoingHttp, site: Site) -> None:
    with pytest.raises(Unreachable):
        await exempt.fetch(HttpRequest(f"http://127.0.0.1:{site.port}/long"))


async def test_a_host_that_hangs_holds_few_connections(exempt: OutgoingHttp, site: Site) -> None:
    url = f"http://127.0.0.1:{site.port}"
    slow = [
        asyncio.create_task(exempt.fetch(HttpRequest(f"{url}/slow")))
        for _ in range(GUARDED_PER_HOST + 5)
    ]
    while len(site.visits) < GUARDED_PER_HOST:  # noqa: ASYNC110 - no event tells of it
        await asyncio.sleep(0.01)
    assert (
        await exempt.fetch(HttpRequest(f"{url.replace('127.0.0.1', 'localhost')}/"))
    ).status == 200
    assert site.visits == ["GET /slow"] * GUARDED_PER_HOST + ["GET /"]
    site.may_answer.set()
    assert {answer.status for answer in await asyncio.gather(*slow)} == {200}


@pytest.mark.parametrize(
    "url", ["", "//", "http://", "file:///etc/passwd", "gopher://x/", "http://["]
)
async def test_a_url_that_is_not_http_is_unreachable(guarded: OutgoingHttp, url: str) -> None:
    with pytest.raises(Unreachable):
        await guarded.fetch(HttpRequest(url))
