"""A person with an enrolled second factor gives it after the password (RFC 6238, RFC 8176 §2, ASVS 6.3)."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from service.events.factors import FactorAccepted, FactorRefused
from service.events.users import SessionStarted
from service.model.handle import digest
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, claims_in
from tests.factors.phone import ALICE, Phone

pytestmark = pytest.mark.rfc("6238#5.2", "8176#2")

PATH = "/account/second-factor"


async def test_code_of_the_app_completes_the_sign_in(
    app: ClientApp, half: Page, phone: Phone, events: list[object]
) -> None:
    assert half.has("otp")
    done = await app.browser.submit(half, otp=phone.code())
    claims = claims_in((await app.redeem(done.parameters["code"]))["id_token"])
    assert claims["amr"] == ["pwd", "otp", "mfa"]
    assert FactorAccepted(subject=ALICE, method="otp", address="127.0.0.1") in events


async def test_code_counts_once(app: ClientApp, half: Page, phone: Phone, browser: Browser) -> None:
    code = phone.code()
    assert "code" in (await app.browser.submit(half, otp=code)).parameters
    browser.forget_cookies()
    again = await app.browser.submit(await app.login(), otp=code)
    assert (again.path, again.has("login-error")) == (PATH, True)
    assert "sid" not in browser.cookies


async def test_earlier_code_is_refused_after_a_later_one(
    app: ClientApp, half: Page, phone: Phone, browser: Browser
) -> None:
    assert "code" in (await app.browser.submit(half, otp=phone.code(steps_ahead=1))).parameters
    browser.forget_cookies()
    assert (await app.browser.submit(await app.login(), otp=phone.code())).path == PATH


@pytest.mark.parametrize("steps_ahead", [-20, -2, 2, 20], ids=lambda steps: f"{steps} steps off")
async def test_code_of_another_time_is_refused(
    app: ClientApp, half: Page, phone: Phone, steps_ahead: int
) -> None:
    page = await app.browser.submit(half, otp=phone.code(steps_ahead=steps_ahead))
    assert page.path == PATH


@pytest.mark.parametrize(
    "otp", [None, "", "0", "12345", "1234567", "１２３４５６", "abcdef", "9" * 60]
)
async def test_what_is_no_code_is_refused(
    app: ClientApp, half: Page, otp: str | None, events: list[object]
) -> None:
    page = await app.browser.submit(half, otp=otp)
    assert (page.status, page.path) == (200, PATH)
    assert not [each for each in events if isinstance(each, SessionStarted)]


def full_width(code: str) -> str:
    return "".join(chr(ord("０") + int(digit)) for digit in code)


def arabic(code: str) -> str:
    return "".join(chr(ord("٠") + int(digit)) for digit in code)


@pytest.mark.parametrize(
    "write",
    [
        lambda code: f"{code[:3]}-{code[3:]}",
        lambda code: f"\u200e{code[:3]}\u00a0{code[3:]}\u202f",
        full_width,
        arabic,
    ],
    ids=["with a hyphen", "with no-break spaces", "in full width", "in Arabic digits"],
)
async def test_code_counts_however_it_is_written(
    app: ClientApp, half: Page, phone: Phone, write: Callable[[str], str]
) -> None:
    assert "code" in (await app.browser.submit(half, otp=write(phone.code()))).parameters


async def test_hint_about_recovery_codes_belongs_to_their_field(app: ClientApp, half: Page) -> None:
    page = await app.browser.get(f"{half.url}&method=recovery_code")
    assert page.element("recovery-code")["aria-describedby"] == "recovery-code-hint"
    page = await app.browser.submit(page, recovery_code="wrong")
    assert page.element("recovery-code")["aria-describedby"] == "login-error recovery-code-hint"


async def test_wrong_code_is_told_and_audited(
    app: ClientApp, half: Page, phone: Phone, events: list[object]
) -> None:
    page = await app.browser.submit(half, otp=phone.wrong_code())
    assert page.has("login-error")
    refused = FactorRefused(subject=ALICE, method="otp", address="127.0.0.1", reason="wrong")
    assert refused in events


async def test_recovery_code_counts_once_and_tells_how_many_are_left(
    app: ClientApp, half: Page, phone: Phone, browser: Browser
) -> None:
    (link,) = [one for one in half.links if "method=recovery_code" in one]
    page = await browser.submit(
        await browser.get(link), recovery_code=phone.recovery_codes[3].upper()
    )
    assert page.element("recovery-codes-left")["data-left"] == "9"
    done = await browser.get(page.element("continue")["href"] or "")
    claims = claims_in((await app.redeem(done.parameters["code"]))["id_token"])
    assert claims["amr"] == ["pwd", "otp", "mfa"]
    browser.forget_cookies()
    half = await app.login()
    used = phone.recovery_codes[3]
    page = await browser.submit(half, method="recovery_code", recovery_code=used)
    assert page.path == PATH


async def test_person_without_a_second_factor_is_not_asked(app: ClientApp) -> None:
    assert "code" in (await app.login()).parameters


async def test_factor_that_is_enrolled_meanwhile_is_asked_of_an_older_session(
    app: ClientApp, service: RunningService, browser: Browser
) -> None:
    await app.login()
    phone = Phone()
    await phone.enrol(service)
    assert (await app.authorize(prompt="none")).error == "interaction_required"
    assert (await browser.get("/account")).path == PATH
    page = await app.authorize()
    assert page.path == PATH
    assert "code" in (await browser.submit(page, otp=phone.code())).parameters


@pytest.mark.parametrize("prompt", [{}, {"prompt": "none"}], ids=["page", "none"])
async def test_nothing_is_granted_before_the_factor_of_an_older_session(
    app: ClientApp, service: RunningService, prompt: dict[str, str]
) -> None:
    await app.login()
    granted = await find_granted(service)
    await Phone().enrol(service)
    await app.authorize(**prompt)
    assert await find_granted(service) == granted


async def find_granted(service: RunningService) -> tuple[set[str], list[bytes]]:
    """Return the keys of all authorizations, and Alice's codes for the client."""
    stores = service.features.shared.stores
    keys = {key async for key in stores.kv.find_keys(stores.authorizations.key("*"))}
    listed = stores.subject_codes.members(digest(ALICE), digest("web"))
    (codes,) = await stores.kv.write(listed)
    return keys, codes


async def test_cancelling_sends_the_person_back(app: ClientApp, half: Page) -> None:
    assert (await app.browser.submit(half, action="cancel")).error == "access_denied"


async def test_page_without_a_sign_in_leads_to_the_login(browser: Browser) -> None:
    assert (await browser.get(PATH)).path == "/account/login"


async def test_own_account_opens_after_the_second_factor(browser: Browser, phone: Phone) -> None:
    half = await browser.log_in(await browser.get("/account"))
    assert half.path == PATH
    assert (await browser.submit(half, otp=phone.code())).path == "/account"


async def test_page_says_whose_sign_in_it_is(half: Page) -> None:
    assert "You are signing in as <strong>alice</strong>." in half.text


async def test_code_on_the_page_of_another_user_is_not_tried(
    browser: Browser, phone: Phone, service: RunningService, events: list[object]
) -> None:
    await phone.enrol(service, sub="88421113")
    alices = await browser.log_in(await browser.get("/account"))
    await browser.log_in(await browser.get("/account/login"), "bob")
    page = await browser.submit(alices, otp=phone.code())
    assert (page.path, page.has("login-error")) == (PATH, False)
    assert "You are signing in as <strong>bob</strong>." in page.text
    assert not [event for event in events if isinstance(event, FactorAccepted | FactorRefused)]
