"""The browser tells clients that the session has ended (OpenID Connect Front-Channel Logout §2, §3)."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import unescape
from typing import Any
from urllib.parse import urlencode

import pytest
from msgspec.structs import force_setattr

from tests.account.account_page import end_session
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import claims_in
from tests.logout.conftest import BYE, Logout, is_signed_in

pytestmark = pytest.mark.rfc("openid-frontchannel#2")

WEB, IMPLICIT = "https://web.example/out", "https://implicit.example/out?from=here"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "web")["frontchannel_logout_uri"] = WEB
    client_in(config, "implicit").update(
        frontchannel_logout_uri=IMPLICIT, frontchannel_logout_session_required=False
    )
    return config


def frames_of(page: Page) -> list[str]:
    """Return the URIs of the page's frames, each by its source and by the refresh that it begins with."""
    sources = re.findall(r'<iframe[^>]* src="([^"]*)"', page.text)
    first = re.findall(r'<iframe[^>]* srcdoc="([^"]*)"', page.text)
    begun = [re.search(r'url=([^"]*)"', unescape(each)) for each in first]
    assert [unescape(each[1]) for each in begun if each] == [unescape(each) for each in sources]
    return [unescape(each) for each in sources]


def policy_of(page: Page) -> list[str]:
    """Return the sources that the page may frame."""
    directives = [each.split() for each in page.headers["Content-Security-Policy"].split("; ")]
    return next((sources for name, *sources in directives if name == "frame-src"), [])


async def test_a_frame_names_the_issuer_and_the_session(
    app: ClientApp, logout: Logout, hint: str
) -> None:
    page = await logout(id_token_hint=hint)
    query = urlencode({"iss": app.service.issuer, "sid": claims_in(hint)["sid"]})
    assert page.has("logout-success")
    assert frames_of(page) == [f"{WEB}?{query}"]
    assert not await is_signed_in(app)


async def test_a_page_with_frames_leads_to_no_other_language(logout: Logout, hint: str) -> None:
    """Another language is another page, without the frames."""
    assert 'class="languages"' not in (await logout(id_token_hint=hint)).text


async def test_every_client_of_the_session_has_a_frame_and_no_other(
    app_of: Callable[[str], ClientApp], logout: Logout, hint: str
) -> None:
    await app_of("implicit").authorize(response_type="id_token", scope="openid profile")
    await app_of("spa").authorize(scope="openid")
    implicit, web = sorted(frames_of(await logout(id_token_hint=hint)))
    assert (web.split("?")[0], implicit) == (WEB, IMPLICIT)


async def test_a_front_channel_uri_keeps_its_query(
    app_of: Callable[[str], ClientApp], logout: Logout, hint: str
) -> None:
    client = await app_of("web").service.features.clients.find("implicit")
    assert client is not None
    force_setattr(client, "frontchannel_logout_session_required", True)
    await app_of("implicit").authorize(response_type="id_token", scope="openid profile")
    implicit, _ = sorted(frames_of(await logout(id_token_hint=hint)))
    assert implicit.startswith(f"{IMPLICIT}&iss=")


async def test_the_page_may_frame_only_the_clients_uris(logout: Logout, hint: str) -> None:
    assert policy_of(await logout(id_token_hint=hint)) == ["https://web.example"]


async def test_the_signed_out_page_continues_by_itself_and_has_a_link(
    logout: Logout, hint: str
) -> None:
    page = await logout(id_token_hint=hint, post_logout_redirect_uri=BYE, state="a&b")
    assert (page.status, page.has("logout-success")) == (200, True)
    refresh = re.search(r'<meta http-equiv="refresh" content="([^"]*)"', page.text)
    assert refresh is not None
    assert unescape(refresh[1]) == f"4; url={BYE}?state=a%26b"
    assert page.element("logout-continue")["href"] == f"{BYE}?state=a%26b"


async def test_a_signed_out_page_without_a_uri_stays(logout: Logout, hint: str) -> None:
    page = await logout(id_token_hint=hint)
    assert '<meta http-equiv="refresh"' not in page.text
    assert not page.has("logout-continue")


async def test_a_confirmed_logout_loads_the_frames(
    app: ClientApp, logout: Logout, hint: str
) -> None:
    page = await app.browser.submit(await logout(client_id="web", post_logout_redirect_uri=BYE))
    assert claims_in(hint)["sid"] in frames_of(page)[0]


async def test_signing_out_at_the_account_page_loads_the_frames(app: ClientApp, hint: str) -> None:
    page = await end_session(app.browser, claims_in(hint)["sid"])
    assert (page.has("logout-success"), len(frames_of(page))) == (True, 1)
    assert not await is_signed_in(app)


async def test_ending_a_session_at_another_browser_loads_no_frames_here(
    app: ClientApp, hint: str, stranger: Any
) -> None:
    other = (await ClientApp(app.service, stranger).tokens())["id_token"]
    page = await end_session(app.browser, claims_in(other)["sid"])
    assert (page.path, frames_of(page)) == ("/account", [])
    assert claims_in(hint)["sid"] in page.text


async def test_a_logout_without_front_channel_clients_shows_no_page(
    app_of: Callable[[str], ClientApp], logout: Logout
) -> None:
    hint = (await app_of("spa").tokens())["id_token"]
    uri = "https://spa.example/bye?from=here"
    page = await logout(id_token_hint=hint, post_logout_redirect_uri=uri)
    assert (page.status, page.url) == (303, uri)


async def test_a_second_logout_loads_no_frames(logout: Logout, hint: str) -> None:
    await logout(id_token_hint=hint, post_logout_redirect_uri=BYE)
    assert (await logout(id_token_hint=hint, post_logout_redirect_uri=BYE)).url == BYE


async def test_a_disabled_client_has_no_frame(app: ClientApp, logout: Logout, hint: str) -> None:
    client = await app.service.features.clients.find("web")
    assert client is not None
    force_setattr(client, "enabled", False)
    assert frames_of(await logout(id_token_hint=hint)) == []
