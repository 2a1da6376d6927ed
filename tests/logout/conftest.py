"""A user with a session at the client `web`, and ways to sign out."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.rounds import next_rounds as next_rounds  # noqa: PLC0414 - a fixture
from tests.driving.rounds import outboxes_are_read_often as outboxes_are_read_often  # noqa: PLC0414 - a fixture
from tests.driving.service import Answer, RunningService

BYE = "https://web.example/bye"

Logout = Callable[..., Awaitable[Page]]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Post-logout URIs of two more clients, one of them with a query of its own."""
    client_in(config, "spa")["post_logout_redirect_uris"] = ["https://spa.example/bye?from=here"]
    client_in(config, "consenting")["post_logout_redirect_uris"] = ["https://careful.example/bye"]
    client_in(config, "consenting")["enabled"] = False
    return config


@pytest.fixture
async def tokens(app: ClientApp) -> Answer:
    """The ID token that `web` got when alice signed in."""
    return await app.tokens()


@pytest.fixture
def hint(tokens: Answer) -> str:
    """The identity token of her session."""
    return str(tokens["id_token"])


@pytest.fixture
async def stranger(service: RunningService) -> AsyncIterator[Browser]:
    """A browser that nobody is signed in at."""
    browser = Browser(service.issuer)
    yield browser
    await browser.close()


@pytest.fixture(params=["get", "post"])
def send(request: pytest.FixtureRequest) -> Callable[..., Awaitable[Page]]:
    """Send a browser to sign out, by either method (RP-Initiated Logout §2)."""
    by_get = request.param == "get"

    async def sent(browser: Browser, **parameters: str) -> Page:
        if by_get:
            return await browser.get("/connect/endsession", params=parameters)
        return await browser.post("/connect/endsession", parameters)

    return sent


@pytest.fixture
def logout(browser: Browser, send: Logout) -> Logout:
    """The same in alice's browser."""

    async def sent(**parameters: str) -> Page:
        return await send(browser, **parameters)

    return sent


async def end(app: ClientApp, id_token: str, **more: str) -> None:
    """Sign out as the client asks for it."""
    await app.browser.get("/connect/endsession", params={"id_token_hint": id_token} | more)


async def is_signed_in(app: ClientApp) -> bool:
    """Whether the client gets a code without anybody being asked."""
    return "code" in (await app.authorize(prompt="none")).parameters


async def nothing_waits(service: RunningService) -> None:
    """Until every client that is to be told of a logout has been."""
    queue = service.features.shared.stores.logout_outbox.queue
    for _ in range(6000):
        (waiting,) = await service.features.shared.kv.write(queue.count())
        if waiting == 0:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("somebody is still to be told")
