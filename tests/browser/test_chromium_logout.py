"""A real browser loads the frames of a logout, and asks the frame of the service (Front-Channel Logout §3, Session Management §3)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from socket import create_server, socket
from typing import Any
from urllib.parse import urlencode

import pytest
from aiohttp import web
from playwright.async_api import Browser, Page

from tests.browser.conftest import page_of
from tests.driving.chromium import CHROMIUM
from tests.driving.listening import serving
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService

pytestmark = [pytest.mark.needs(CHROMIUM), pytest.mark.rfc("openid-frontchannel#3")]

without_javascript = pytest.mark.parametrize(
    "page",
    [{}, {"java_script_enabled": False}],
    indirect=True,
    ids=["with JavaScript", "without JavaScript"],
)
MONITOR = """<!doctype html><title>Application</title><link rel="icon" href="data:,">
<iframe id="op" src="%(issuer)s/connect/checksession"></iframe><div id="status"></div>
<script>
addEventListener("message", (event) => {
  if (event.origin === "%(issuer)s") document.getElementById("status").textContent = event.data;
});
document.getElementById("op").addEventListener("load", (event) => {
  event.target.contentWindow.postMessage(%(message)s, "%(issuer)s");
});
</script>"""

ADD_FRAME = (
    "(url) => { document.body.append(Object.assign(document.createElement('iframe'), {src: url})) }"
)
ASK_SIBLING = """(message) => new Promise((resolve) => {
  addEventListener("message", (event) => resolve(event.data));
  parent.frames[0].postMessage(message, "*");
})"""


@dataclass
class Site:
    """A client with a front-channel logout URI, which also watches the login from a page of its own."""

    listening: socket = field(default_factory=lambda: create_server(("127.0.0.1", 0)))
    issuer: str = ""
    session_state: str = ""
    told: list[dict[str, str]] = field(default_factory=list)
    answering: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def url(self) -> str:
        """Its URL: the same site as the service, at another port."""
        return f"http://localhost:{self.listening.getsockname()[1]}"

    async def callback(self, request: web.Request) -> web.Response:
        """Keep the state."""
        self.session_state = request.query.get("session_state", "")
        return page_of("back", request.query.get("error", "signed in"))

    async def frontchannel(self, request: web.Request) -> web.Response:
        """Be told, and answer in time or not."""
        self.told.append(dict(request.query))
        await self.answering.wait()
        return page_of("out", "Out")

    async def monitor(self, request: web.Request) -> web.Response:
        """Ask the frame once, and show what it says."""
        message = request.query.get("message", f"web {self.session_state}")
        html = MONITOR % {"issuer": self.issuer, "message": f'"{message}"'}
        return web.Response(text=html, content_type="text/html")

    async def bye(self, _: web.Request) -> web.Response:
        """The page after signing out."""
        return page_of("bye", "Bye")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    site = Site()
    site.answering.set()
    app = web.Application()
    for path in ("callback", "frontchannel", "monitor", "bye"):
        app.router.add_get(f"/{path}", getattr(site, path))
    async with serving(app, bound=site.listening):
        yield site
        site.answering.set()


@pytest.fixture
def config(site: Site) -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "web").update(
        redirect_uris=[f"{site.url}/callback"],
        post_logout_redirect_uris=[f"{site.url}/bye"],
        frontchannel_logout_uri=f"{site.url}/frontchannel?from=here",
        require_pkce=False,
    )
    return configuration


@pytest.fixture
async def page(
    request: pytest.FixtureRequest, service: RunningService, site: Site, chromium: Browser
) -> AsyncIterator[Page]:
    """A window in which alice has signed in at the site."""
    site.issuer = service.issuer
    context = await chromium.new_context(locale="en", **getattr(request, "param", {}))
    page = await context.new_page()
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    await sign_in(page, site)
    yield page
    await context.close()
    assert complaints == []


def asks(site: Site, **more: str) -> str:
    """The site's authorization request."""
    request = {
        "client_id": "web",
        "redirect_uri": f"{site.url}/callback",
        "response_type": "code",
        "scope": "openid",
    } | more
    return f"{site.issuer}/connect/authorize?{urlencode(request)}"


async def sign_in(page: Page, site: Site, **more: str) -> None:
    """Be sent to the service, and come back."""
    await page.goto(asks(site, **more))
    await page.fill("#username", "alice")
    await page.fill("#password", "alice-password")
    await page.click("#login")
    await page.wait_for_selector("#back")


async def sign_out(page: Page, site: Site, **more: str) -> None:
    """Be sent to sign out, and confirm."""
    query = urlencode({"client_id": "web"} | more)
    await page.goto(f"{site.issuer}/connect/endsession?{query}")
    await page.click("#logout-confirm", no_wait_after=True)


async def status(page: Page, site: Site, **query: str) -> str:
    """The text of the frame."""
    await page.goto(f"{site.url}/monitor?{urlencode(query)}")
    shown = page.locator("#status:not(:empty)")
    return await shown.inner_text(timeout=60000)


@without_javascript
async def test_the_frames_are_loaded_and_the_page_goes_on(page: Page, site: Site) -> None:
    await sign_out(page, site, post_logout_redirect_uri=f"{site.url}/bye")
    await page.wait_for_selector("#bye", timeout=60000)
    (told,) = site.told
    assert (told["iss"], told["from"], bool(told["sid"])) == (site.issuer, "here", True)


@without_javascript
async def test_a_frame_that_hangs_does_not_keep_the_person(page: Page, site: Site) -> None:
    site.answering.clear()
    await sign_out(page, site, post_logout_redirect_uri=f"{site.url}/bye")
    await page.wait_for_selector("#bye", timeout=60000)
    assert len(site.told) == 1


async def test_without_anywhere_to_go_the_page_stays(page: Page, site: Site) -> None:
    await sign_out(page, site)
    await page.wait_for_selector("#logout-success")
    await page.wait_for_timeout(2500)
    assert (len(site.told), await page.is_visible("#logout-success")) == (1, True)


@pytest.mark.rfc("openid-session#3.1", "openid-session#3.2")
async def test_the_frame_tells_of_a_logout(page: Page, site: Site) -> None:
    assert await status(page, site) == "unchanged"
    await sign_out(page, site)
    await page.wait_for_selector("#logout-success")
    assert await status(page, site) == "changed"


@pytest.mark.rfc("openid-session#3.2")
async def test_the_frame_tells_of_nothing_when_the_same_person_signs_in_again(
    page: Page, site: Site
) -> None:
    before = site.session_state
    await sign_in(page, site, prompt="login")
    assert await status(page, site, message=f"web {before}") == "unchanged"


@pytest.mark.rfc("openid-session#3.2")
async def test_the_frame_tells_who_is_signed_out_of_a_login(page: Page, site: Site) -> None:
    await sign_out(page, site)
    await page.wait_for_selector("#logout-success")
    await page.goto(asks(site, prompt="none"))
    assert await status(page, site) == "unchanged"


@pytest.mark.rfc("openid-session#3.2")
async def test_what_makes_no_sense_is_an_error(page: Page, site: Site) -> None:
    answers = {
        "nonsense": "error",
        "web nonsense": "error",
        f"web {'0' * 64}": "error",
        f" {'0' * 64}.salt": "error",
        f"web {'0' * 64}.salt": "changed",
        f"spa and more {'0' * 64}.salt": "changed",
    }
    assert {message: await status(page, site, message=message) for message in answers} == answers


@pytest.mark.rfc("openid-session#3.2")
async def test_a_frame_of_another_origin_has_no_business_there(page: Page, site: Site) -> None:
    await status(page, site)
    stranger = f"http://127.0.0.1:{site.listening.getsockname()[1]}/bye"
    async with page.expect_event("framenavigated"):
        await page.evaluate(ADD_FRAME, stranger)
    frame = next(each for each in page.frames if each.url == stranger)
    assert await frame.evaluate(ASK_SIBLING, f"web {site.session_state}") == "error"
