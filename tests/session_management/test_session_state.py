"""Every answer lets the client notice when the login changes (OpenID Connect Session Management §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.session_management.conftest import Status

pytestmark = pytest.mark.rfc("openid-session#2", "openid-session#3.2")

IMPLICIT = {"origin": "https://implicit.example", "client_id": "implicit"}


def state_in(page: Any) -> str:
    """The parameter of an answer."""
    return str(page.parameters["session_state"])


async def test_an_authorization_response_has_a_valid_session_state(
    app: ClientApp, status: Status
) -> None:
    state = state_in(await app.login())
    assert status(state) == "unchanged"
    assert " " not in state


@pytest.mark.parametrize(
    "response_type", ["code", "id_token", "id_token token", "code id_token", "code id_token token"]
)
@pytest.mark.parametrize("response_mode", ["fragment", "form_post"])
async def test_every_response_type_has_a_session_state(
    app_of: Callable[[str], ClientApp], status: Status, response_type: str, response_mode: str
) -> None:
    page = await app_of("implicit").login(
        response_type=response_type, response_mode=response_mode, scope="openid profile"
    )
    assert status(state_in(page), **IMPLICIT) == "unchanged"


async def test_an_application_on_the_device_has_the_opaque_origin(
    app_of: Callable[[str], ClientApp],
    service: RunningService,
    config: dict[str, Any],
    status: Status,
) -> None:
    redirect_uri = "com.example.native:/callback"
    client_in(config, "native")["redirect_uris"].append(redirect_uri)
    service.reload(config)
    page = await app_of("native").login(redirect_uri=redirect_uri)
    assert status(state_in(page), client_id="native", origin="null") == "unchanged"


async def test_a_session_state_is_bound_to_client_and_origin(
    app: ClientApp, status: Status
) -> None:
    state = state_in(await app.login())
    assert status(state, client_id="spa") == "changed"
    assert status(state, origin="https://other.example") == "changed"


async def test_each_response_has_its_own_valid_session_state(
    app: ClientApp, status: Status
) -> None:
    states = [state_in(await app.login()) for _ in range(3)]
    assert len(set(states)) == 3
    assert {status(state) for state in states} == {"unchanged"}


async def test_a_login_within_the_session_does_not_change_the_state(
    app: ClientApp, status: Status
) -> None:
    state = state_in(await app.login())
    again = await app.browser.log_in(await app.authorize(prompt="login"))
    assert (status(state), status(state_in(again))) == ("unchanged", "unchanged")


async def test_a_logout_changes_the_state(app: ClientApp, status: Status) -> None:
    page = await app.login()
    state, hint = state_in(page), (await app.redeem(page.parameters["code"]))["id_token"]
    await app.browser.get("/connect/endsession", params={"id_token_hint": hint})
    assert status(state) == "changed"
    assert "browser_state" not in app.browser.cookies


async def test_another_user_changes_the_state(app: ClientApp, status: Status) -> None:
    state = state_in(await app.login())
    page = await app.browser.log_in(await app.authorize(prompt="login"), "bob")
    assert (status(state), status(state_in(page))) == ("changed", "unchanged")


async def test_a_login_after_a_logout_changes_the_state(app: ClientApp, status: Status) -> None:
    state = state_in(await app.login())
    await app.browser.submit(await app.browser.get("/connect/endsession"))
    await app.login()
    assert status(state) == "changed"


@pytest.mark.rfc("openid-core#3.1.2.6")
async def test_a_refusal_has_a_session_state_that_a_login_changes(
    app: ClientApp, status: Status
) -> None:
    page = await app.authorize(prompt="none")
    state = state_in(page)
    assert (page.error, status(state)) == ("login_required", "unchanged")
    await app.login()
    assert status(state) == "changed"


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"prompt": "none", "max_age": "0"}, "login_required"),
        ({"prompt": "none", "scope": "openid unknown"}, "invalid_scope"),
        ({"response_type": "unknown"}, "unsupported_response_type"),
    ],
    ids=str,
)
async def test_every_refusal_has_a_session_state(
    app: ClientApp, status: Status, changes: dict[str, str], error: str
) -> None:
    await app.login()
    page = await app.authorize(**changes)
    assert (page.error, status(state_in(page))) == (error, "unchanged")


async def test_a_user_that_cancels_does_not_change_the_state(
    app: ClientApp, status: Status
) -> None:
    page = await app.browser.submit(await app.authorize(), action="cancel")
    assert (page.error, status(state_in(page))) == ("access_denied", "unchanged")


async def test_a_request_without_openid_has_no_session_state(app: ClientApp) -> None:
    assert "session_state" not in (await app.login(scope="api1")).parameters
    assert "session_state" not in (await app.authorize(scope="api1", prompt="x")).parameters


async def test_an_error_page_has_no_session_state(app: ClientApp) -> None:
    page = await app.authorize(redirect_uri="https://evil.example/")
    assert (page.status, "session_state" in page.text) == (400, False)


async def test_a_missing_browser_state_cookie_is_set_again(app: ClientApp, status: Status) -> None:
    state = state_in(await app.login())
    app.browser.session.cookie_jar.clear(lambda cookie: cookie.key.startswith("browser_state"))
    assert status(state) == "changed"
    await app.authorize(prompt="none")
    assert status(state) == "unchanged"


async def test_a_session_that_is_over_changes_the_cookie(
    app: ClientApp, status: Status, clock: Clock
) -> None:
    state = state_in(await app.login())
    clock.forward(hours=11)
    page = await app.authorize(prompt="none")
    assert (page.error, status(state)) == ("login_required", "changed")
    assert status(state_in(page)) == "unchanged"


async def test_a_frame_without_the_session_cookie_does_not_change_the_state(
    app: ClientApp, service: RunningService
) -> None:
    await app.login()
    cookies = app.browser.cookie_header.split("; ")
    (state,) = [each for each in cookies if each.startswith("browser_state")]
    path = app.url(prompt="none").removeprefix(service.issuer)
    answer = await service.get(path, headers={"Cookie": state})
    assert "login_required" in answer.headers["Location"]
    assert not [each for each in answer.headers.getall("Set-Cookie", []) if "state" in each]


async def test_the_browser_state_cookie_reveals_neither_user_nor_session(app: ClientApp) -> None:
    page = await app.login()
    claims = claims_in((await app.redeem(page.parameters["code"]))["id_token"])
    state = app.browser.cookies["browser_state"]
    assert not [claims[name] for name in ("sub", "sid") if claims[name] in state]
    assert not await _signs_in(app, state)


async def _signs_in(app: ClientApp, cookie: str) -> bool:
    stranger = Browser(app.service.issuer)
    stranger.put_cookies({"sid": cookie, "browser_state": cookie})
    page = await ClientApp(app.service, stranger).authorize(prompt="none")
    await stranger.close()
    return "code" in page.parameters
