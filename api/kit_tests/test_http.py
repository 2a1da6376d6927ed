"""Requests to the issuer over a real socket: with each library, a deadline and a limit, and without redirects."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

import pytest
from aiohttp import web
from oauth_resource_server import ClientSecret, Refusal, ResourceServer
from oauth_resource_server import http as kit_http
from oauth_resource_server.http import AiohttpHttp, Http, HttpxHttp, fetch_json
from oauth_resource_server.testing import LocalIssuer

from .conftest import authenticate, request


@pytest.fixture(params=[HttpxHttp, AiohttpHttp], ids=["httpx", "aiohttp"])
async def http(request: pytest.FixtureRequest) -> AsyncIterator[Http]:
    """Return what sends by one library."""
    made: Callable[[], Http] = request.param
    sender = made()
    yield sender
    await sender.aclose()


@pytest.fixture
async def url(local_issuer: LocalIssuer) -> AsyncIterator[str]:
    """Run the issuer on a socket."""

    async def answer(asked: web.Request) -> web.StreamResponse:
        form = {key: str(value) for key, value in (await asked.post()).items()}
        sent = await local_issuer.send(
            local_issuer.url + asked.path, asked.headers, form if asked.method == "POST" else None
        )
        return web.Response(status=sent.status, body=sent.body)

    async def redirect(_: web.Request) -> web.StreamResponse:
        raise web.HTTPFound("/jwks")

    async def long(_: web.Request) -> web.StreamResponse:
        return web.Response(body=b"[" * 600_000)

    ended = asyncio.Event()

    async def slow(_: web.Request) -> web.StreamResponse:
        await ended.wait()
        return web.Response()

    app = web.Application()
    app.add_routes([web.get("/redirect", redirect), web.get("/long", long)])
    app.add_routes([web.get("/slow", slow), web.route("*", "/{path:.*}", answer)])
    runner = web.AppRunner(app, shutdown_timeout=0)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    local_issuer.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield local_issuer.url
    ended.set()
    await runner.cleanup()


async def test_tokens_are_read_with_each_library(
    http: Http, url: str, local_issuer: LocalIssuer
) -> None:
    api = ResourceServer(url, audience="orders", credentials=ClientSecret("orders", "s"), http=http)
    assert (await authenticate(api, local_issuer.token())).subject == "alice"
    caller = await authenticate(api, local_issuer.opaque_token())
    assert caller.subject == "alice"
    assert (await api.on_behalf_of(caller, "stock")).count(".") == 2
    await api.aclose()


async def test_redirects_are_not_followed(http: Http, url: str) -> None:
    assert await fetch_json(http, f"{url}/redirect") == (302, {})


@pytest.mark.parametrize("path", ["/long", "/slow", ":1/"])
async def test_endless_answers_end(
    http: Http, url: str, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kit_http, "SECONDS", 0.5)
    with pytest.raises(Refusal) as refused:
        await fetch_json(http, url + path if path != ":1/" else "http://127.0.0.1:1/")
    assert refused.value.status == 503


def test_blocking_callers_wait_for_the_network(local_issuer: LocalIssuer) -> None:
    api = ResourceServer(local_issuer.url, audience="orders", http=local_issuer)
    assert api.authenticate_blocking(request(local_issuer.token())).subject == "alice"


async def test_blocking_call_in_an_event_loop_is_refused(
    api: ResourceServer, local_issuer: LocalIssuer
) -> None:
    with pytest.raises(RuntimeError, match="await"):
        api.authenticate_blocking(request(local_issuer.token()))
