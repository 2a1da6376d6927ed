"""A client proves with an identity token that it may end the session (RP-Initiated Logout §2, §4)."""

from __future__ import annotations

import pytest

from service.events.users import LoggedOut, SessionEnded
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService, claims_in
from tests.logout.conftest import BYE, Logout, is_signed_in


async def test_logout_with_a_hint_ends_the_session_without_confirmation(
    app: ClientApp, logout: Logout, hint: str, events: list[object]
) -> None:
    page = await logout(id_token_hint=hint)
    sid = claims_in(hint)["sid"]
    assert (page.status, page.has("logout-success")) == (200, True)
    assert not await is_signed_in(app)
    assert SessionEnded(session_id=sid, subject="818727") in events
    assert LoggedOut(session_id=sid, subject="818727") in events


async def test_the_user_goes_back_with_the_state(app: ClientApp, logout: Logout, hint: str) -> None:
    page = await logout(id_token_hint=hint, post_logout_redirect_uri=BYE, state="a b&c")
    assert (page.status, page.url) == (303, f"{BYE}?state=a+b%26c")
    assert not await is_signed_in(app)


async def test_the_user_goes_back_without_a_state_if_none_was_sent(
    logout: Logout, hint: str
) -> None:
    page = await logout(id_token_hint=hint, post_logout_redirect_uri=BYE)
    assert page.url == BYE


async def test_the_session_cookie_is_cleared(logout: Logout, hint: str, browser: Browser) -> None:
    await logout(id_token_hint=hint, post_logout_redirect_uri=BYE)
    assert "sid" not in browser.cookies


async def test_an_expired_hint_is_accepted(logout: Logout, hint: str, clock: Clock) -> None:
    clock.forward(hours=1)
    assert (await logout(id_token_hint=hint, post_logout_redirect_uri=BYE)).url == BYE


@pytest.mark.rfc("openid-core#11")
async def test_the_tokens_end_with_the_session_but_the_offline_ones(
    app: ClientApp, logout: Logout, tokens: Answer, service: RunningService
) -> None:
    offline = await app.tokens(scope="openid api1 offline_access")
    await logout(id_token_hint=tokens["id_token"])
    assert not await service.is_active(tokens["access_token"])
    assert await service.is_active(offline["access_token"])
    assert (await app.refresh(offline["refresh_token"])).status == 200


async def test_a_code_issued_before_the_logout_is_invalid(
    app: ClientApp, logout: Logout, hint: str
) -> None:
    code = await app.code()
    await logout(id_token_hint=hint)
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")


async def test_the_user_stays_signed_in_at_another_browser(
    logout: Logout, hint: str, stranger: Browser, service: RunningService
) -> None:
    elsewhere = ClientApp(service, stranger)
    await elsewhere.login()
    await logout(id_token_hint=hint)
    assert await is_signed_in(elsewhere)


async def test_a_hint_with_its_own_client_id_is_enough(logout: Logout, hint: str) -> None:
    page = await logout(id_token_hint=hint, client_id="web", post_logout_redirect_uri=BYE)
    assert page.url == BYE


async def test_a_hint_of_the_users_other_session_asks_and_goes_back(
    app: ClientApp, logout: Logout, hint: str, stranger: Browser, service: RunningService
) -> None:
    other = (await ClientApp(service, stranger).tokens())["id_token"]
    page = await logout(id_token_hint=other, post_logout_redirect_uri=BYE)
    assert page.has("logout-confirm")
    assert claims_in(other)["sid"] != claims_in(hint)["sid"]
    assert (await app.browser.submit(page)).url == BYE


@pytest.mark.usefixtures("hint")
async def test_a_hint_about_another_user_asks_and_follows_no_uri(
    app: ClientApp, logout: Logout, stranger: Browser, service: RunningService
) -> None:
    bobs = (await ClientApp(service, stranger).tokens("bob"))["id_token"]
    page = await logout(id_token_hint=bobs, post_logout_redirect_uri=BYE)
    assert page.has("logout-confirm")
    assert (await app.browser.submit(page)).has("logout-success")
    assert not await is_signed_in(app)


async def bad_hints(service: RunningService, tokens: Answer) -> dict[str, str]:
    """Texts that are not ID tokens of this service."""
    head, claims, signature = tokens["id_token"].split(".")
    return {
        "nonsense": "nonsense",
        "an access token": tokens["access_token"],
        "another signature": f"{head}.{claims}.{signature[::-1]}",
        "no signature": f"{head}.{claims}.",
        "another issuer": await _of_another_issuer(service, tokens["id_token"]),
    }


async def _of_another_issuer(service: RunningService, id_token: str) -> str:
    key = service.features.ring.signing_key()
    return await key.sign({**claims_in(id_token), "iss": "https://other.example"}, typ="JWT")


@pytest.mark.parametrize(
    "kind",
    [
        "nonsense",
        "an access token",
        "another signature",
        "no signature",
        "another issuer",
    ],
)
async def test_a_bad_hint_asks_and_follows_no_uri(
    app: ClientApp, logout: Logout, tokens: Answer, service: RunningService, kind: str
) -> None:
    bad = (await bad_hints(service, tokens))[kind]
    page = await logout(id_token_hint=bad, client_id="web", post_logout_redirect_uri=BYE)
    assert page.has("logout-confirm")
    assert await is_signed_in(app)
    assert (await app.browser.submit(page)).has("logout-success")


async def test_a_hint_for_another_client_asks_and_follows_no_uri(
    app: ClientApp, logout: Logout, hint: str
) -> None:
    uri = "https://spa.example/bye?from=here"
    page = await logout(id_token_hint=hint, client_id="spa", post_logout_redirect_uri=uri)
    assert page.has("logout-confirm")
    assert (await app.browser.submit(page)).has("logout-success")


@pytest.mark.parametrize(
    "uri",
    [f"{BYE}/", f"{BYE}?x=1", "https://spa.example/bye?from=here", "javascript:alert(1)", "/"],
)
async def test_a_post_logout_uri_that_is_not_registered_asks_and_is_not_followed(
    app: ClientApp, logout: Logout, hint: str, uri: str
) -> None:
    page = await logout(id_token_hint=hint, post_logout_redirect_uri=uri)
    assert page.has("logout-confirm")
    assert (await app.browser.submit(page)).has("logout-success")
    assert not await is_signed_in(app)
