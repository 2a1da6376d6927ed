"""Request objects that hang hold up neither one another nor what else the service fetches (OIDC Core §6.2)."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from service.authorize import request_uri
from service.authorize.request_uri import RequestUris
from service.model.client import Client
from service.model.outgoing import ClientHttp, HttpAnswer, HttpRequest
from service.protocol.errors import InvalidRequestUri
from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("openid-core#6.2")

BASE = "https://web.example/"


class Hanging:
    """A way out whose other end answers when a test lets it."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.answering = asyncio.Event()

    async def fetch(self, request: HttpRequest) -> HttpAnswer:
        self.asked.append(request.uri)
        await self.answering.wait()
        return HttpAnswer(200, b"content")


@pytest.fixture
async def client(web: Sender) -> Client:
    """One with a few URLs."""
    found = await web.app.service.features.clients.find("web")
    assert found is not None
    return replace(found, request_uris=tuple(f"{BASE}{n}" for n in range(20)))


@pytest.fixture
def way() -> Hanging:
    """Everywhere."""
    return Hanging()


@pytest.fixture
def uris(way: Hanging) -> RequestUris:
    """At a clock that stands still."""
    return RequestUris(ClientHttp(free=way, guarded=way))


async def begun(uris: RequestUris, client: Client, *paths: str) -> list[asyncio.Task[str]]:
    """As many requests at once, as far as they come by themselves."""
    tasks = [
        asyncio.create_task(uris.fetch(BASE + path, client, client_address="192.0.2.1"))
        for path in paths
    ]
    for _ in range(100):  # turns of the loop: nothing here waits for time or a thread
        await asyncio.sleep(0)
    return tasks


async def test_requests_that_come_together_share_a_fetch(
    uris: RequestUris, way: Hanging, client: Client
) -> None:
    tasks = await begun(uris, client, "0", "0", "0")
    way.answering.set()
    assert await asyncio.gather(*tasks) == ["content"] * 3
    assert way.asked == [BASE + "0"]


async def test_a_cancelled_request_does_not_cancel_the_shared_fetch(
    uris: RequestUris, way: Hanging, client: Client
) -> None:
    first, second = await begun(uris, client, "0", "0")
    first.cancel()
    way.answering.set()
    assert await second == "content"


async def test_the_fragments_of_one_url_wait_for_each_other(
    uris: RequestUris, way: Hanging, client: Client
) -> None:
    tasks = await begun(uris, client, "0#a", "0#b")
    assert way.asked == [BASE + "0"]
    way.answering.set()
    await asyncio.gather(*tasks)
    assert way.asked == [BASE + "0"] * 2


async def test_a_limited_number_of_fetches_runs_at_once(
    uris: RequestUris, way: Hanging, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(request_uri, "PATIENCE", 0.3)
    *waiting, late = await begun(uris, client, *map(str, range(request_uri.AT_ONCE + 1)))
    assert len(way.asked) == request_uri.AT_ONCE
    with pytest.raises(InvalidRequestUri, match="now"):
        await late
    way.answering.set()
    assert set(await asyncio.gather(*waiting)) == {"content"}


async def test_hanging_dynamic_clients_do_not_stop_the_operators_clients(
    way: Hanging, client: Client
) -> None:
    free = Hanging()
    free.answering.set()
    uris = RequestUris(ClientHttp(free=free, guarded=way))
    stranger = replace(client, dynamically_registered=True)
    waiting = await begun(uris, stranger, *map(str, range(request_uri.AT_ONCE)))
    assert await uris.fetch(BASE + "0", client, client_address="192.0.2.1") == "content"
    way.answering.set()
    await asyncio.gather(*waiting)
