"""The three cookies and their attributes (RFC 6265 §4.1.2, RFC 6265bis §4.1.3, ASVS 3.3)."""

from __future__ import annotations

import re
from http.cookies import Morsel, SimpleCookie
from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("6265#4.1.2")

ISSUER = "https://login.example"


@pytest.fixture
async def behind_tls(start: Start, config: dict[str, Any]) -> RunningService:
    """The service as a proxy that ends TLS sees it."""
    return await start(config | {"issuer": ISSUER})


@pytest.fixture
async def secure_app(behind_tls: RunningService) -> Any:
    browser = Browser(behind_tls.issuer)
    yield ClientApp(behind_tls, browser)
    await browser.close()


def cookies_of(page: Page) -> dict[str, Morsel[str]]:
    """The cookies that this answer sets, by their names without the port that they have on loopback."""
    jar: SimpleCookie = SimpleCookie()
    for header in page.headers.getall("Set-Cookie", []):
        jar.load(header)
    return {re.sub(r"_[0-9]+$", "", name): cookie for name, cookie in jar.items()}


async def test_the_session_cookie_is_for_the_server_and_this_site_only(app: ClientApp) -> None:
    cookie = cookies_of(await app.login())["sid"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert (cookie["secure"], cookie["domain"], cookie["max-age"]) == ("", "", "")


async def test_session_cookie_lasts_if_the_user_wants_to_be_remembered(app: ClientApp) -> None:
    page = await app.browser.log_in(await app.authorize(), remember="true")
    assert cookies_of(page)["sid"]["max-age"] == str(30 * 24 * 3600)


async def test_cookies_of_an_https_issuer_are_secure_and_bound_to_the_host(
    secure_app: ClientApp,
) -> None:
    await secure_app.login()
    jar = {cookie.key: cookie for cookie in secure_app.browser.session.cookie_jar}
    assert set(jar) == {"__Host-sid", "__Host-browser", "__Host-browser_state"}
    for cookie in jar.values():
        assert (cookie["secure"], cookie["path"], cookie["max-age"]) == (True, "/", "")
    for cookie in (jar["__Host-sid"], jar["__Host-browser"]):
        assert (cookie["httponly"], cookie["samesite"]) == (True, "Lax")


@pytest.mark.rfc("openid-session#3.2")
async def test_state_cookie_is_readable_in_frames_of_other_sites(secure_app: ClientApp) -> None:
    cookie = cookies_of(await secure_app.login())["__Host-browser_state"]
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == ("", "None", "/")


async def test_state_cookie_stays_within_the_site_without_tls(app: ClientApp) -> None:
    cookie = cookies_of(await app.login())["browser_state"]
    assert (cookie["httponly"], cookie["samesite"], cookie["secure"]) == ("", "Lax", "")


async def test_state_cookie_lasts_as_long_as_the_session(app: ClientApp) -> None:
    page = await app.browser.log_in(await app.authorize(), remember="true")
    assert cookies_of(page)["browser_state"]["max-age"] == str(30 * 24 * 3600)


async def test_published_urls_begin_with_the_issuer(secure_app: ClientApp) -> None:
    page = await secure_app.login()
    assert page.parameters["iss"] == ISSUER
    assert (await secure_app.redeem(page.parameters["code"])).status == 200


async def test_pages_stand_under_the_issuers_path(start: Start) -> None:
    service = await start(fresh_configuration() | {"issuer": ISSUER + "/auth"})
    browser = Browser(service.issuer)
    parameters = ClientApp(service, browser).parameters()
    answer = await service.get("/connect/authorize", params=parameters)
    assert answer.headers["Location"].startswith("/auth/account/login?request=")
    page = await browser.get("/account/login")
    assert page.forms[0].action == "/auth/account/login"
    assert 'href="/auth/static/' in page.text
    await browser.close()


async def test_pages_of_an_https_issuer_ask_for_https(secure_app: ClientApp) -> None:
    page = await secure_app.authorize()
    assert page.headers["Strict-Transport-Security"].startswith("max-age=")


async def test_host_header_changes_no_url(app: ClientApp, service: RunningService) -> None:
    headers = {"Host": "evil.example", "X-Forwarded-Host": "evil.example"}
    answer = await service.get("/connect/authorize", params=app.parameters(), headers=headers)
    assert "evil.example" not in answer.headers["Location"]


async def test_names_and_same_site_may_be_configured(start: Start) -> None:
    session = {"cookie_name": "who", "cookie_same_site": "none"}
    service = await start(fresh_configuration() | {"issuer": ISSUER, "session": session})
    browser = Browser(service.issuer)
    page = await ClientApp(service, browser).login()
    assert cookies_of(page)["__Host-who"]["samesite"] == "None"
    marks = [cookie for cookie in browser.session.cookie_jar if cookie.key == "__Host-browser"]
    assert [cookie["samesite"] for cookie in marks] == ["Lax"]
    await browser.close()


@pytest.mark.rfc("6265#8.5")
async def test_two_instances_on_one_machine_do_not_end_each_others_sessions(
    start: Start, browser: Browser, app: ClientApp
) -> None:
    """A browser sends the cookies of one port to every port of the host."""
    other = await start(fresh_configuration() | {"store": {"key_prefix": "other"}})
    elsewhere = Browser(other.issuer)
    await app.login()
    elsewhere.session.cookie_jar.update_cookies({c.key: c for c in browser.session.cookie_jar})
    await ClientApp(other, elsewhere).login()
    for issuer in (app.service.issuer, other.issuer):
        assert (await elsewhere.get(f"{issuer}/account")).text_of("logout")
    await elsewhere.close()


@pytest.mark.parametrize("value", ["", "x", "ss_", "x" * 5000, "ss_" + "A" * 65, "\"'<>"])
async def test_a_cookie_of_no_session_is_no_session(app: ClientApp, value: str) -> None:
    app.browser.put_cookies({"sid": value, "browser": value})
    assert (await app.authorize(prompt="none")).error == "login_required"
    assert (await app.authorize()).has("login")


async def test_who_is_not_let_in_with_a_password_is_asked_again(start: Start) -> None:
    configuration = fresh_configuration()
    client_in(configuration, "spa")["enable_local_login"] = False
    service = await start(configuration)
    browser = Browser(service.issuer)
    await ClientApp(service, browser).login()
    page = await ClientApp(service, browser, "spa").authorize()
    assert page.path == "/account/login"
    assert not page.has("username")
    refused = await browser.submit(page, username="alice", password="alice-password")
    assert (refused.status, refused.error) == (400, "invalid_request")
    await browser.close()
