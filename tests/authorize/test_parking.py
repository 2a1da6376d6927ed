"""A request waits for its person, in the browser that began it, for a quarter of an hour (RFC 9700 §4.7)."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from urllib.parse import parse_qs, urlencode, urlsplit

import pytest

from tests.conftest import Clock
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

LONG = "s" * 8_200
"""Too long to be kept."""

ENDSESSION = "/connect/endsession"
PAGES = ["/account/login", "/account/select", "/account/consent"]


@pytest.fixture
async def elsewhere(service: RunningService) -> AsyncIterator[Browser]:
    """Another person's browser."""
    browser = Browser(service.issuer)
    yield browser
    await browser.close()


def assert_is_over(page: Page) -> None:
    """The request waits no longer, and nothing tells where it would have led."""
    assert (page.status, page.error) == (400, "invalid_request")
    assert "web.example" not in page.text


async def test_a_page_carries_only_a_short_id(app: ClientApp) -> None:
    page = await app.authorize(login_hint="alice")
    parameters = parse_qs(urlsplit(page.url).query)
    assert list(parameters) == ["request"]
    assert len(parameters["request"][0]) <= 32
    assert "web.example/callback" not in page.text


async def count_stored_bytes(service: RunningService) -> int:
    """Bytes of all requests that wait."""
    kv = service.features.shared.kv
    return sum([len(await kv.get(key) or b"") async for key in kv.find_keys("ts:*:pk")])


@pytest.mark.parametrize("path", ["/connect/authorize", "/connect/endsession"])
async def test_unknown_parameters_are_not_parked(app: ClientApp, path: str) -> None:
    page = await app.browser.post(path, app.parameters(junk="x" * 50_000))
    assert page.status == 200
    assert await count_stored_bytes(app.service) < 2_000


async def test_a_state_that_is_too_long_to_be_kept_is_refused_at_the_client(app: ClientApp) -> None:
    assert (await app.authorize(state="s" * 7_000)).has("login")
    kept = await count_stored_bytes(app.service)
    page = await app.authorize(state=LONG, response_mode="form_post")
    assert (page.error, page.parameters["state"]) == ("invalid_request", LONG)
    assert await count_stored_bytes(app.service) == kept


async def test_a_request_that_is_answered_at_once_has_any_state(app: ClientApp) -> None:
    await app.login()
    assert "code" in (await app.authorize(state=LONG, response_mode="form_post")).parameters


async def test_a_logout_that_is_too_long_to_be_kept_is_refused(app: ClientApp) -> None:
    await app.login()
    for page in (
        await app.browser.get(f"{ENDSESSION}?{urlencode({'state': LONG})}"),
        await app.browser.post(ENDSESSION, {"state": LONG}),
    ):
        assert (page.status, page.error) == (400, "invalid_request")
    assert await count_stored_bytes(app.service) == 0


@pytest.mark.parametrize("path", PAGES)
async def test_an_unknown_parked_id_is_refused(browser: Browser, path: str) -> None:
    for request in ("unknown", "x" * 5000, "%00", ""):
        assert_is_over(await browser.get(f"{path}?request={request}" if request else PAGES[1]))


@pytest.mark.parametrize("path", [*PAGES, "/account/continue"])
async def test_a_parked_request_belongs_to_the_browser_that_began_it(
    app: ClientApp, elsewhere: Browser, path: str
) -> None:
    page = await app.authorize()
    stolen = path + "?" + urlsplit(page.url).query
    assert_is_over(await elsewhere.get(stolen))
    await ClientApp(app.service, elsewhere).login("bob")
    assert_is_over(await elsewhere.get(stolen))


async def test_a_form_of_another_browser_does_not_answer_a_parked_request(
    app: ClientApp, elsewhere: Browser
) -> None:
    page = await app.authorize()
    theirs = await ClientApp(app.service, elsewhere).authorize()
    request = dict(page.forms[0].fields)["request"]
    assert_is_over(await elsewhere.log_in(theirs, request=request))
    assert "code" in (await app.browser.log_in(page)).parameters


async def test_a_wrong_password_does_not_use_a_parked_request_up(app: ClientApp) -> None:
    page = await app.authorize()
    for _ in range(3):
        page = await app.browser.log_in(page, password="wrong")
        assert (page.status, page.path) == (200, "/account/login")
        assert page.has("login-error")
    assert "code" in (await app.browser.log_in(page)).parameters


async def test_an_answer_uses_a_parked_request_up(app: ClientApp) -> None:
    page = await app.authorize()
    assert "code" in (await app.browser.log_in(page)).parameters
    assert_is_over(await app.browser.log_in(page))
    assert_is_over(await app.browser.get(page.url))


@pytest.mark.parametrize("action", ["cancel", "deny"])
async def test_a_refusal_uses_a_parked_request_up(app: ClientApp, action: str) -> None:
    await app.login()
    page = await app.authorize(prompt="login" if action == "cancel" else "consent")
    assert (await app.browser.submit(page, action=action)).error == "access_denied"
    assert_is_over(await app.browser.get(page.url))


async def test_a_login_of_the_wrong_user_uses_a_parked_request_up(app: ClientApp) -> None:
    hint = (await app.tokens())["id_token"]
    page = await app.authorize(id_token_hint=hint, prompt="login")
    assert (await app.browser.log_in(page, "bob")).error == "login_required"
    assert_is_over(await app.browser.get(page.url))


async def test_a_parked_request_expires_after_15_minutes(app: ClientApp, clock: Clock) -> None:
    page = await app.authorize()
    clock.forward(minutes=14)
    assert (await app.browser.get(page.url)).has("login")
    clock.forward(minutes=2)
    assert_is_over(await app.browser.get(page.url))
    assert_is_over(await app.browser.log_in(page))


async def test_an_answer_does_not_prolong_a_parked_request(
    app_of: Callable[[str], ClientApp], clock: Clock
) -> None:
    app = app_of("consenting")
    page = await app.authorize()
    clock.forward(minutes=10)
    consent = await app.browser.log_in(page)
    clock.forward(minutes=6)
    assert_is_over(await app.browser.get(consent.url))


async def test_two_parked_requests_do_not_affect_each_other(app: ClientApp) -> None:
    first = await app.authorize(state="first")
    second = await app.authorize(state="second")
    assert (await app.browser.log_in(second)).parameters["state"] == "second"
    assert (await app.browser.log_in(first)).parameters["state"] == "first"


async def test_a_parked_request_is_validated_again_when_it_continues(
    app: ClientApp, service: RunningService
) -> None:
    page = await app.authorize()
    file = service.features.shared.configuration.file
    file.write_text(file.read_text().replace("https://web.example/callback", "https://web.new/cb"))
    assert service.features.shared.registry.reload()
    page = await app.browser.log_in(page)
    assert (page.status, page.error) == (400, "invalid_request")


async def test_the_login_cannot_be_skipped_by_opening_another_page(app: ClientApp) -> None:
    page = await app.authorize(prompt="consent")
    consent = await app.browser.get("/account/consent?" + urlsplit(page.url).query)
    page = await app.browser.submit(consent, action="allow") if consent.forms else consent
    assert page.path == "/account/login"
    assert (await app.browser.log_in(page)).path == "/account/consent"


async def test_a_user_that_signed_out_meanwhile_logs_in_again(app: ClientApp) -> None:
    hint = (await app.tokens())["id_token"]
    page = await app.authorize(prompt="consent")
    await app.browser.get(f"/connect/endsession?id_token_hint={hint}")
    page = await app.browser.submit(page, action="allow")
    assert page.path == "/account/login"
    assert (await app.browser.log_in(page)).path == "/account/consent"


async def test_a_user_whose_account_signed_out_meanwhile_chooses_again(app: ClientApp) -> None:
    await app.login("alice")
    page = await app.authorize(prompt="select_account")
    await app.login("bob", prompt="login")
    page = await app.browser.submit(page, action="continue")
    assert page.path == "/account/select"
    assert "Bob Jones" in page.text


async def test_a_user_that_signs_in_later_is_asked_for_consent(app: ClientApp) -> None:
    await app.login("alice")
    page = await app.authorize(prompt="consent")
    await app.login("bob", prompt="login")
    page = await app.browser.submit(page, action="allow")
    assert page.path == "/account/consent"
    assert "Bob Jones" in page.text
