"""A headless Chromium, a real application next to the service, and a check of the browser's console."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from html import escape
from types import MappingProxyType
from typing import Any
from urllib.parse import urlencode

import pytest
import pytest_asyncio
from aiohttp import ClientSession, web
from playwright.async_api import Browser, BrowserContext, Page

from tests.driving.chromium import connected_to, shared_chromium
from tests.driving.listening import serving
from tests.driving.registry import client_in, fresh_configuration, secret_of
from tests.driving.service import RunningService, basic

CLIENT_ID = "consenting"
FASTER_THAN_A_PERSON = (
    "Autofocus processing was blocked because a document already has a focused element."
)
"""What Chromium notes where a test fills in a field before the page has chosen the first one."""
PHONE = {"width": 360, "height": 740}
DESKTOP = {"width": 1280, "height": 900}


@dataclass
class Application:
    """A web application: takes the answer, redeems the code, greets the person at another origin.

    The redirect from one origin to the other is what Chromium judges by the `form-action` of the
    page that it came from.
    """

    listening: socket.socket = field(default_factory=lambda: socket.create_server(("127.0.0.1", 0)))
    issuer: str = ""
    received: dict[str, str] = field(default_factory=dict)
    origin: str | None = None
    outcome: tuple[str, str] = ("", "")
    seconds_to_answer: float = 0
    form: tuple[str, Mapping[str, str]] = ("", MappingProxyType({}))
    frames: str = ""
    """A page with frames of the service."""

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return int(self.listening.getsockname()[1])

    @property
    def url(self) -> str:
        """Its URL."""
        return f"http://localhost:{self.port}"

    @property
    def redirect_uri(self) -> str:
        """The URL that takes answers."""
        return f"{self.url}/callback"

    async def callback(self, request: web.Request) -> web.Response:
        """Redeem the code, and show the person to the home page."""
        given = await request.post() if request.method == "POST" else request.query
        self.origin = request.headers.get("Origin")
        self.received = {name: str(value) for name, value in given.items()}
        self.outcome = await self.redeemed()
        await asyncio.sleep(self.seconds_to_answer)
        raise web.HTTPSeeOther(f"http://127.0.0.1:{self.port}/home")

    async def redeemed(self) -> tuple[str, str]:
        """The outcome, and its id on the home page."""
        if "code" not in self.received:
            return "refused", self.received.get("error", "nothing")
        form = {
            "grant_type": "authorization_code",
            "code": self.received["code"],
            "redirect_uri": self.redirect_uri,
        }
        headers = {"Authorization": basic(CLIENT_ID, secret_of(CLIENT_ID))}
        async with (
            ClientSession() as http,
            http.post(f"{self.issuer}/connect/token", data=form, headers=headers) as answer,
        ):
            return "granted", (await answer.json()).get("scope", "no tokens")

    async def start(self, _: web.Request) -> web.Response:
        """A form that asks for an authorization by POST."""
        action, fields = self.form
        inputs = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
            for name, value in fields.items()
        )
        form = f'<form method="post" action="{escape(action)}">{inputs}<button>Go</button></form>'
        return page_of("start", form)

    async def framing(self, _: web.Request) -> web.Response:
        """A page of the test's own."""
        return web.Response(text=self.frames, content_type="text/html")

    async def home(self, _: web.Request) -> web.Response:
        """The last page of the flow."""
        return page_of(*self.outcome)

    async def bye(self, _: web.Request) -> web.Response:
        """The page after signing out."""
        return page_of("bye", "Bye")


def page_of(element_id: str, text: str) -> web.Response:
    """A page that says one thing."""
    icon = '<link rel="icon" href="data:,">'
    html = f'<!doctype html><title>Application</title>{icon}<div id="{element_id}">{text}</div>'
    return web.Response(text=html, content_type="text/html")


@pytest.fixture
async def application() -> AsyncIterator[Application]:
    """The application, on a port of its own."""
    application = Application()
    app = web.Application()
    app.add_routes(
        [
            web.get("/callback", application.callback),
            web.post("/callback", application.callback),
            web.get("/start", application.start),
            web.get("/frames", application.framing),
            web.get("/home", application.home),
            web.get("/bye", application.bye),
        ]
    )
    async with serving(app, bound=application.listening):
        yield application


@pytest.fixture
def config(application: Application) -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, CLIENT_ID).update(
        redirect_uris=[application.redirect_uri],
        post_logout_redirect_uris=[f"{application.url}/bye"],
        require_pkce=False,
    )
    return configuration


@pytest.fixture
def _function_scoped_runner(_session_scoped_runner: asyncio.Runner) -> asyncio.Runner:
    """The tests of this folder share one event loop, because the connection to Chromium belongs to it."""
    return _session_scoped_runner


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_browser(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Browser]:
    """One Chromium for all tests of this process, and one driver."""
    with shared_chromium(tmp_path_factory.mktemp("chromium")) as url:
        async with connected_to(url) as browser:
            yield browser


@pytest.fixture
async def chromium(shared_browser: Browser) -> AsyncIterator[Browser]:
    """A browser in which nobody else has cookies."""
    yield shared_browser
    for context in shared_browser.contexts[1:]:
        await context.close()


@dataclass
class Person:
    """Somebody in front of a browser window; complaints are what the browser's console said."""

    context: BrowserContext
    page: Page
    application: Application
    issuer: str
    complaints: list[str] = field(default_factory=list)

    def request(self, **more: str) -> dict[str, str]:
        """The application's authorization request."""
        return {
            "client_id": CLIENT_ID,
            "redirect_uri": self.application.redirect_uri,
            "response_type": "code",
            "scope": "openid profile api1",
            "state": "the-state",
        } | more

    async def asks(self, **more: str) -> None:
        """Be sent to the service by a link."""
        query = urlencode(self.request(**more))
        await self.page.goto(f"{self.issuer}/connect/authorize?{query}")

    async def posts(self, **more: str) -> None:
        """Be sent to the service by a form of the application, which is another site."""
        self.application.form = f"{self.issuer}/connect/authorize", self.request(**more)
        await self.page.goto(f"http://127.0.0.1:{self.application.port}/start")
        await self.page.click("button")

    async def logs_in(self, password: str = "alice-password") -> None:
        """Fill in the form and press its button."""
        await self.page.fill("#username", "alice")
        await self.page.fill("#password", password)
        await self.page.click("#login")

    async def types_password(self) -> None:
        """Fill in the form and send it, with the keyboard alone."""
        await self.page.wait_for_selector("#username:focus")
        await self.page.keyboard.type("alice")
        await self.page.keyboard.press("Tab")
        await self.page.keyboard.type("alice-password")
        await self.page.keyboard.press("Enter")

    async def tabs_to(self, selector: str, then: str = "") -> None:
        """Go to an element with the Tab key, and press another key there, or none."""
        focused = self.page.locator(f"{selector}:focus")
        for _ in range(40):
            await self.page.keyboard.press("Tab")
            if await focused.count():
                break
        else:
            raise AssertionError(f"the Tab key does not lead to {selector}")
        if then:
            await self.page.keyboard.press(then)

    async def sees(self, selector: str) -> str:
        """Wait for an element; its text."""
        return " ".join((await self.page.locator(selector).inner_text(timeout=60000)).split())

    async def overflows(self) -> bool:
        """Whether the page is wider than the window."""
        widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]"
        scroll, client = await self.page.evaluate(widths)
        return bool(scroll > client)


@pytest.fixture
async def person(
    request: pytest.FixtureRequest,
    service: RunningService,
    application: Application,
    chromium: Browser,
) -> AsyncIterator[Person]:
    """Somebody with a new browser window; options by `@pytest.mark.parametrize("person", …)`."""
    options = {"viewport": DESKTOP, "locale": "en"} | getattr(request, "param", {})
    application.issuer = service.issuer
    context = await chromium.new_context(**options)
    page = await context.new_page()
    person = Person(context, page, application, service.issuer)
    page.on("console", lambda message: person.complaints.append(message.text))
    page.on("pageerror", lambda error: person.complaints.append(str(error)))
    yield person
    await context.close()
    assert [one for one in person.complaints if one != FASTER_THAN_A_PERSON] == []
