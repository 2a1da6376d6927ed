"""A real browser follows a client whose callback redirects on: to an app, to http, to another loopback host (CSP3 §6.4.2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server, socket
from urllib.parse import urlencode

import pytest
from aiohttp import web
from playwright.async_api import Browser, Page

from tests.browser.conftest import CLIENT_ID, page_of
from tests.browser.tls import behind_tls
from tests.conftest import Start
from tests.driving.chromium import CHROMIUM
from tests.driving.listening import serving
from tests.driving.registry import client_in, fresh_configuration

pytestmark = [pytest.mark.needs(CHROMIUM), pytest.mark.rfc("6749#3.1.2", "8252#7")]

APP = "com.example.app:/done"
"""Chromium has no program for it, so the browser only tries."""


@dataclass
class Callback:
    """A client whose callback redirects on."""

    listening: socket = field(default_factory=lambda: create_server(("127.0.0.1", 0)))
    leads_to: str = ""

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return int(self.listening.getsockname()[1])

    @property
    def url(self) -> str:
        """Its URL; it redirects to another host."""
        return f"http://localhost:{self.port}"

    async def callback(self, _: web.Request) -> web.Response:
        """Lead away."""
        raise web.HTTPSeeOther(self.leads_to)

    async def home(self, _: web.Request) -> web.Response:
        """The page at the other host."""
        return page_of("home", "Home")


@pytest.fixture(params=["another loopback host", "an app"])
async def client(request: pytest.FixtureRequest) -> AsyncIterator[Callback]:
    client = Callback()
    client.leads_to = APP if request.param == "an app" else f"http://127.0.0.1:{client.port}/home"
    app = web.Application()
    app.router.add_route("*", "/callback", client.callback)
    app.router.add_get("/home", client.home)
    async with serving(app, bound=client.listening):
        yield client


@pytest.fixture
async def issuer(client: Callback, start: Start, tmp_path: Path) -> AsyncIterator[str]:
    """An https issuer."""
    configuration = fresh_configuration()
    client_in(configuration, CLIENT_ID).update(
        redirect_uris=[f"{client.url}/callback"],
        post_logout_redirect_uris=[f"{client.url}/callback"],
        require_pkce=False,
    )
    async with behind_tls(start, tmp_path, configuration) as issuer:
        yield issuer


@dataclass
class Person:
    """Somebody in front of a browser window; complaints are what the browser's console said."""

    page: Page
    client: Callback
    issuer: str
    complaints: list[str] = field(default_factory=list)
    has_arrived: asyncio.Event = field(default_factory=asyncio.Event)

    async def asks(self, **more: str) -> None:
        """Come to the service with the client's authorization request."""
        request = {
            "client_id": CLIENT_ID,
            "redirect_uri": f"{self.client.url}/callback",
            "response_type": "code",
            "scope": "openid",
        }
        await self.page.goto(f"{self.issuer}/connect/authorize?{urlencode(request | more)}")

    async def logs_in(self) -> None:
        """Fill in the form and press its button."""
        await self.page.fill("#username", "alice")
        await self.page.fill("#password", "alice-password")
        await self.page.click("#login")


@pytest.fixture
async def person(chromium: Browser, client: Callback, issuer: str) -> AsyncIterator[Person]:
    context = await chromium.new_context(ignore_https_errors=True)
    person = Person(await context.new_page(), client, issuer)
    person.page.on("console", lambda message: person.complaints.append(message.text))
    person.page.on(
        "request", lambda one: person.has_arrived.set() if one.url == client.leads_to else None
    )
    yield person
    await context.close()


async def cancel_login(person: Person) -> None:
    await person.asks()
    await person.page.click("#cancel")


async def consent(person: Person) -> None:
    await person.asks()
    await person.logs_in()
    await person.page.click("#consent-allow")


async def form_post(person: Person) -> None:
    await person.asks(response_mode="form_post")
    await person.logs_in()
    await person.page.click("#consent-allow")


async def select_account(person: Person) -> None:
    await person.page.goto(f"{person.issuer}/account")
    await person.logs_in()
    await person.asks(prompt="select_account")
    await person.page.click("#cancel")


async def log_out(person: Person) -> None:
    await person.page.goto(f"{person.issuer}/account")
    await person.logs_in()
    query = {"client_id": CLIENT_ID, "post_logout_redirect_uri": f"{person.client.url}/callback"}
    await person.page.goto(f"{person.issuer}/connect/endsession?{urlencode(query)}")
    await person.page.click("#logout-confirm")


@pytest.mark.parametrize("leave", [cancel_login, consent, form_post, select_account, log_out])
async def test_browser_follows_the_redirects_of_the_client(
    person: Person, leave: Callable[[Person], Awaitable[None]]
) -> None:
    await leave(person)
    await asyncio.wait_for(person.has_arrived.wait(), 60)
    assert person.complaints == []
