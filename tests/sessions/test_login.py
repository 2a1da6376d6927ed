"""Signing in on the login page, and the session that begins (OIDC Core §3.1.2.3, ASVS 7.2)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.events.users import LoginFailed, LoginSucceeded
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("openid-core#3.1.2.3")


async def test_a_sign_in_serves_every_client_of_this_browser(
    app_of: Callable[[str], ClientApp],
) -> None:
    first = await app_of("web").tokens()
    second = await app_of("spa").tokens()
    one, other = claims_in(first["access_token"]), claims_in(second["access_token"])
    assert (one["sub"], one["sid"], one["auth_time"]) == (
        other["sub"],
        other["sid"],
        other["auth_time"],
    )
    assert one["amr"] == ["pwd"]


async def test_a_login_changes_the_cookie(app: ClientApp) -> None:
    await app.login()
    before = app.browser.cookies["sid"]
    await app.login(prompt="login")
    assert app.browser.cookies["sid"] != before


async def test_the_old_cookie_is_dead(app: ClientApp, service: RunningService) -> None:
    await app.login()
    before = app.browser.cookies
    await app.login(prompt="login")
    answer = await service.get(
        "/connect/authorize", params=app.parameters(prompt="none"), cookies=before
    )
    assert "error=login_required" in answer.headers["Location"]


async def test_a_cookie_from_before_the_login_is_never_taken_over(app: ClientApp) -> None:
    app.browser.put_cookies({"sid": "ss_chosen-by-somebody"})
    await app.login()
    assert app.browser.cookies["sid"].startswith("ss_")
    assert app.browser.cookies["sid"] != "ss_chosen-by-somebody"


async def test_the_same_person_keeps_the_session(app: ClientApp) -> None:
    first = claims_in((await app.tokens())["id_token"])
    again = claims_in((await app.tokens(prompt="login"))["id_token"])
    assert first["sid"] == again["sid"]


async def test_another_person_ends_the_session_and_its_tokens(
    app: ClientApp, service: RunningService
) -> None:
    alices = await app.tokens("alice")
    page = await app.browser.log_in(await app.authorize(prompt="login"), "bob")
    bobs = await app.redeem(page.parameters["code"])
    assert claims_in(alices["id_token"])["sid"] != claims_in(bobs["id_token"])["sid"]
    assert not await service.is_active(alices["access_token"])
    assert await service.is_active(bobs["access_token"])


@pytest.mark.parametrize(
    ("username", "password"),
    [
        ("alice", "wrong"),
        ("alice", ""),
        ("alice", "alice-password "),
        ("nobody", "alice-password"),
        ("carol", "carol-password"),
        ("alice", "alice-password\x07"),
        ("", ""),
    ],
)
async def test_every_failed_login_looks_the_same(
    app: ClientApp, username: str, password: str
) -> None:
    right = await app.authorize()
    reference = await app.browser.log_in(right, "zoe", password="wrong")
    page = await app.browser.log_in(right, username, password=password)
    assert (page.status, page.path) == (200, "/account/login")
    assert page.text_of("login-error") == reference.text_of("login-error")
    assert "sid" not in app.browser.cookies


@pytest.mark.parametrize("username", ["Alice", "ALICE", "ａｌｉｃｅ"])
async def test_a_user_name_is_compared_folded(app: ClientApp, username: str) -> None:
    page = await app.authorize()
    page = await app.browser.log_in(page, username, password="alice-password")
    assert "code" in page.parameters


@pytest.mark.parametrize(
    "field",
    [
        {"username": "x" * 255},
        {"password": "x" * 201},
        {"username": "ali\x00ce"},
        {"password": "alice-password\x00"},
    ],
    ids=["long name", "long password", "NUL in name", "NUL in password"],
)
async def test_input_that_no_user_types_is_refused_before_hashing(
    app: ClientApp, field: dict[str, str]
) -> None:
    page = await app.browser.log_in(await app.authorize(), **field)
    assert (page.status, page.error) == (400, "invalid_request")


async def test_sign_ins_and_failures_are_events(app: ClientApp, events: list[object]) -> None:
    page = await app.authorize()
    page = await app.browser.log_in(page, password="wrong")
    await app.browser.log_in(page)
    told = [event for event in events if isinstance(event, LoginFailed | LoginSucceeded)]
    assert told == [
        LoginFailed(
            username="alice", subject="818727", address="127.0.0.1", reason="wrong_password"
        ),
        LoginSucceeded(subject="818727", username="alice", address="127.0.0.1"),
    ]


async def test_a_person_may_sign_in_without_a_client(browser: Browser) -> None:
    page = await browser.get("/account/login")
    assert not page.has("cancel")
    page = await browser.log_in(page)
    assert page.path == "/account"
    assert "sid" in browser.cookies
