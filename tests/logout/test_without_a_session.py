"""A logout request without a session asks nothing, and is not an error (RP-Initiated Logout §3)."""

from __future__ import annotations

import pytest
from structlog.testing import capture_logs

from service.protocol.errors import LONGEST
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.service import RunningService
from tests.logout.conftest import BYE, Logout


async def test_a_logout_without_a_session_shows_the_signed_out_page(
    stranger: Browser, send: Logout
) -> None:
    page = await send(stranger)
    assert (page.status, page.has("logout-success"), page.has("logout-confirm")) == (
        200,
        True,
        False,
    )


async def test_the_user_goes_to_a_named_clients_uri(stranger: Browser, send: Logout) -> None:
    page = await send(stranger, client_id="web", post_logout_redirect_uri=BYE, state="x")
    assert (page.status, page.url) == (303, f"{BYE}?state=x")


async def test_a_post_logout_uri_keeps_its_query(stranger: Browser, send: Logout) -> None:
    uri = "https://spa.example/bye?from=here"
    page = await send(stranger, client_id="spa", post_logout_redirect_uri=uri, state="x")
    assert page.url == f"{uri}&state=x"


async def test_the_user_goes_to_the_uri_of_the_hints_client(
    stranger: Browser, send: Logout, hint: str
) -> None:
    page = await send(stranger, id_token_hint=hint, post_logout_redirect_uri=BYE)
    assert page.url == BYE


async def test_an_expired_session_counts_as_none(logout: Logout, hint: str, clock: Clock) -> None:
    clock.forward(hours=11)
    assert (await logout(id_token_hint=hint, post_logout_redirect_uri=BYE)).url == BYE
    assert (await logout()).has("logout-success")


@pytest.mark.parametrize(
    "parameters",
    [
        {"post_logout_redirect_uri": BYE},
        {"post_logout_redirect_uri": "https://evil.example/", "client_id": "web"},
        {"post_logout_redirect_uri": BYE, "client_id": "spa"},
        {"post_logout_redirect_uri": BYE, "client_id": "unknown"},
        {"post_logout_redirect_uri": BYE, "client_id": "web", "id_token_hint": "nonsense"},
        {"post_logout_redirect_uri": "https://careful.example/bye", "client_id": "consenting"},
        {"id_token_hint": "a.b.c", "state": "x", "ui_locales": "xx-?", "logout_hint": "alice"},
    ],
    ids=[
        "nobody named",
        "not registered",
        "another client's",
        "unknown client",
        "bad hint",
        "disabled client",
        "nothing but nonsense",
    ],
)
async def test_a_wrong_post_logout_uri_ends_on_the_signed_out_page(
    stranger: Browser, send: Logout, parameters: dict[str, str]
) -> None:
    page = await send(stranger, **parameters)
    assert (page.status, page.has("logout-success")) == (200, True)


async def test_a_hint_for_another_client_ends_on_the_signed_out_page(
    stranger: Browser, send: Logout, hint: str
) -> None:
    uri = "https://spa.example/bye?from=here"
    page = await send(stranger, id_token_hint=hint, client_id="spa", post_logout_redirect_uri=uri)
    assert page.has("logout-success")


async def test_a_logout_without_cookies_clears_no_cookie(service: RunningService) -> None:
    answer = await service.get("/connect/endsession")
    assert (answer.status, "Set-Cookie" in answer.headers) == (200, False)


async def test_the_signed_out_page_is_in_the_users_language(
    stranger: Browser, send: Logout
) -> None:
    assert (await send(stranger, ui_locales="fr de")).lang == "fr"


async def test_the_signed_out_page_leads_to_the_other_languages(
    stranger: Browser, send: Logout
) -> None:
    page = await send(stranger)
    assert "/account/logout?language=fr" in page.text


async def test_a_refused_uri_is_logged_with_its_client(stranger: Browser, send: Logout) -> None:
    uri = "https://evil.example/" + "a" * 2000
    with capture_logs() as logged:
        await send(stranger, post_logout_redirect_uri=uri, client_id="web")
    (warning,) = [line for line in logged if line["log_level"] == "warning"]
    assert warning["client_id"] == "web"
    assert warning["value"].startswith("https://evil.example/")
    assert len(warning["value"]) <= LONGEST + 1


@pytest.mark.parametrize("sent", [{"post_logout_redirect_uri": BYE}, {}], ids=["uri", "no uri"])
async def test_a_logout_without_a_wrong_uri_causes_no_warning(
    stranger: Browser, send: Logout, sent: dict[str, str]
) -> None:
    with capture_logs() as logged:
        await send(stranger, **sent, client_id="web")
    assert [line for line in logged if line["log_level"] == "warning"] == []
