"""A logout request without proof asks the user (RP-Initiated Logout §2, §6)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService
from tests.logout.conftest import BYE, Logout, is_signed_in

PATH = "/connect/endsession"


@pytest.mark.usefixtures("tokens")
async def test_the_logout_page_asks_and_names_the_user(app: ClientApp, logout: Logout) -> None:
    page = await logout()
    assert (page.path, page.has("logout-confirm")) == ("/account/logout", True)
    assert "Alice Smith" in page.text
    assert await is_signed_in(app)


async def test_a_confirmed_logout_ends_the_session(
    app: ClientApp, logout: Logout, tokens: Answer, service: RunningService
) -> None:
    page = await app.browser.submit(await logout())
    assert (page.status, page.has("logout-success")) == (200, True)
    assert not await is_signed_in(app)
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.usefixtures("tokens")
async def test_a_named_client_is_shown_and_gets_the_user_back(
    app: ClientApp, logout: Logout
) -> None:
    page = await logout(client_id="web", post_logout_redirect_uri=BYE, state="the-state")
    assert "Web application" in page.text
    assert (await app.browser.submit(page)).url == f"{BYE}?state=the-state"
    assert not await is_signed_in(app)


@pytest.mark.usefixtures("tokens")
async def test_a_user_that_cancels_stays_signed_in(app: ClientApp, logout: Logout) -> None:
    page = await logout(client_id="web", post_logout_redirect_uri=BYE)
    assert page.has("cancel")
    page = await app.browser.submit(page, action="cancel")
    assert page.path == "/account"
    assert await is_signed_in(app)


@pytest.mark.usefixtures("tokens")
async def test_a_user_that_signed_out_may_sign_in_again(app: ClientApp, logout: Logout) -> None:
    page = await app.browser.submit(await logout())
    page = await app.browser.get(page.element("sign-in-again")["href"] or "")
    assert page.has("login")


@pytest.mark.usefixtures("tokens")
async def test_the_logout_form_may_lead_to_the_client(logout: Logout) -> None:
    page = await logout(client_id="web", post_logout_redirect_uri=BYE)
    assert "form-action" not in page.headers["Content-Security-Policy"]


@pytest.mark.usefixtures("tokens")
async def test_a_post_logout_uri_without_its_client_is_not_followed(
    app: ClientApp, logout: Logout
) -> None:
    page = await logout(post_logout_redirect_uri=BYE)
    assert (await app.browser.submit(page)).has("logout-success")


@pytest.mark.usefixtures("tokens")
async def test_a_disabled_clients_post_logout_uri_is_not_followed(
    app: ClientApp, logout: Logout
) -> None:
    page = await logout(
        client_id="consenting", post_logout_redirect_uri="https://careful.example/bye"
    )
    assert (await app.browser.submit(page)).has("logout-success")


@pytest.mark.usefixtures("tokens")
async def test_the_logout_page_is_in_the_requested_language(app: ClientApp, logout: Logout) -> None:
    page = await logout(ui_locales="de", logout_hint="alice")
    assert page.lang == "de"
    assert (await app.browser.submit(page)).lang == "de"


@pytest.mark.usefixtures("tokens")
@pytest.mark.parametrize("csrf", [None, "", "of-another-browser"])
async def test_a_forged_logout_form_is_forbidden(
    app: ClientApp, logout: Logout, csrf: str | None
) -> None:
    page = await app.browser.submit(await logout(), csrf=csrf)
    assert (page.status, page.error) == (403, "invalid_request")
    assert await is_signed_in(app)


@pytest.mark.usefixtures("tokens")
async def test_a_user_may_log_out_without_any_client(app: ClientApp) -> None:
    page = await app.browser.get("/account/logout")
    assert page.has("logout-confirm")
    assert (await app.browser.submit(page)).has("logout-success")


@pytest.mark.usefixtures("tokens")
@pytest.mark.parametrize("changes", [{}, {"session_id": None}], ids=["new page", "older page"])
async def test_the_logout_page_of_one_user_does_not_sign_out_another(
    app: ClientApp, logout: Logout, changes: dict[str, Any]
) -> None:
    page = await logout(client_id="web", post_logout_redirect_uri=BYE)
    await app.login("bob", prompt="login")
    page = await app.browser.submit(page, **changes)
    assert (page.path, "Bob Jones" in page.text) == ("/account/logout", True)
    assert await is_signed_in(app)
    assert (await app.browser.submit(page)).url == BYE


@pytest.mark.usefixtures("tokens")
async def test_confirming_twice_leads_back_to_the_client_once(
    app: ClientApp, logout: Logout
) -> None:
    page = await logout(client_id="web", post_logout_redirect_uri=BYE)
    assert (await app.browser.submit(page)).url == BYE
    assert (await app.browser.submit(page)).has("logout-success")


async def test_confirming_late_still_signs_out(
    app: ClientApp, tokens: Answer, service: RunningService, clock: Clock
) -> None:
    page = await app.browser.get(PATH, params={"client_id": "web"})
    clock.forward(minutes=16)
    assert (await app.browser.submit(page)).has("logout-success")
    assert not await service.is_active(tokens["access_token"])


@pytest.mark.usefixtures("tokens")
async def test_a_parked_logout_does_not_count_in_another_browser(
    app: ClientApp, stranger: Browser
) -> None:
    parked = await app.browser.get(PATH, params={"client_id": "web", "ui_locales": "de"})
    page = await stranger.get(parked.url)
    assert (page.status, page.has("logout-success"), page.lang) == (200, True, "en")
    assert await is_signed_in(app)


async def test_a_posted_logout_is_parked_and_continued_by_get(
    app: ClientApp, service: RunningService, tokens: Answer
) -> None:
    form = urlencode({"id_token_hint": tokens["id_token"], "post_logout_redirect_uri": BYE})
    answer = await service.post(PATH, raw=form)
    assert (answer.status, "Set-Cookie" in answer.headers) == (303, False)
    assert tokens["id_token"] not in answer.headers["Location"]
    assert (await app.browser.get(answer.headers["Location"])).url == BYE
    assert not await is_signed_in(app)


async def test_repeated_or_long_parameters_of_a_logout_are_refused(browser: Browser) -> None:
    for query in ("state=1&state=2", f"client_id={'a' * 257}"):
        page = await browser.get(f"{PATH}?{query}")
        assert (page.status, page.error) == (400, "invalid_request")


async def test_a_body_of_another_type_is_refused(service: RunningService) -> None:
    answer = await service.request("POST", PATH, json={})
    assert answer.status == 415


async def test_discovery_names_the_end_session_endpoint(service: RunningService) -> None:
    metadata = await service.get("/.well-known/openid-configuration")
    assert metadata["end_session_endpoint"] == service.issuer + PATH


@pytest.mark.rfc("openid-frontchannel#2.1", "openid-backchannel#2.1")
async def test_discovery_lists_front_and_back_channel_logout(service: RunningService) -> None:
    metadata = await service.get("/.well-known/openid-configuration")
    for channel in ("frontchannel", "backchannel"):
        assert metadata[f"{channel}_logout_supported"] is True
        assert metadata[f"{channel}_logout_session_supported"] is True
