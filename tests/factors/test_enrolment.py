"""A person enrols, names and removes second factors at the own account, shortly after a login (NIST SP 800-63B §6.1.2, ASVS 7.5.1)."""

from __future__ import annotations

from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from service.events.factors import FactorEnrolled, FactorRemoved, RecoveryCodesRenewed
from service.model.factors import Factors
from service.model.handle import digest
from tests.conftest import Clock
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, claims_in
from tests.factors.conftest import PATH
from tests.factors.phone import ALICE, Phone

pytestmark = pytest.mark.rfc("6238#4")

SECURITY = "/account/security"
ADD = f"{SECURITY}/add"


@pytest.fixture
async def security(browser: Browser) -> Page:
    """The page, after Alice's password."""
    page = await browser.log_in(await browser.get(SECURITY))
    assert page.path == SECURITY
    return page


def phone_of(page: Page) -> Phone:
    """A phone that has scanned the code of the page."""
    query = parse_qs(urlsplit(page.element("totp-uri")["href"] or "").query)
    (secret,) = query["secret"]
    assert page.text_of("totp-secret").replace(" ", "") == secret
    return Phone(secret=secret)


async def open_add(browser: Browser, security: Page, method: str = "otp") -> Page:
    """Follow the link of the security page to where a factor is added."""
    return await browser.get(security.element(f"add-{method}")["href"] or "")


async def enrol(browser: Browser, security: Page, name: str = "") -> tuple[Phone, Page]:
    """Add an app, and return it with the page of the recovery codes."""
    page = await open_add(browser, security)
    phone = phone_of(page)
    done = await browser.submit(page, otp=phone.code(), name=name, action="confirm")
    phone.recovery_codes = done.text_of("recovery-codes").split()
    return phone, done


async def test_app_is_enrolled_by_its_first_code(
    security: Page, browser: Browser, events: list[object]
) -> None:
    phone, done = await enrol(browser, security, "My phone")
    assert len(phone.recovery_codes) == 10
    assert FactorEnrolled(subject=ALICE, method="otp", address="127.0.0.1") in events
    page = await browser.get(done.element("continue")["href"] or "")
    assert (page.path, "My phone" in page.text) == (SECURITY, True)
    assert phone.secret not in page.text


async def test_app_names_the_service_and_the_user(
    security: Page, browser: Browser, service: RunningService
) -> None:
    page, host = await open_add(browser, security), urlsplit(service.issuer).hostname
    scanned = urlsplit(page.element("totp-uri")["href"] or "")
    assert (scanned.scheme, scanned.netloc) == ("otpauth", "totp")
    assert unquote(scanned.path) == f"/{host}:alice"
    assert parse_qs(scanned.query)["issuer"] == [host]


async def test_enrolment_completes_the_session_and_is_no_new_login(
    security: Page, browser: Browser, app: ClientApp, service: RunningService
) -> None:
    (before,) = await service.features.shared.sessions.find_all_of(ALICE)
    await enrol(browser, security)
    (after,) = await service.features.shared.sessions.find_all_of(ALICE)
    assert after.auth_time == before.auth_time
    tokens = await app.redeem((await app.authorize(prompt="none")).parameters["code"])
    assert claims_in(tokens["id_token"])["amr"] == ["pwd", "otp", "mfa"]


async def test_enrolled_app_signs_in_and_its_first_code_does_not_count_again(
    security: Page, browser: Browser, app: ClientApp
) -> None:
    phone, _ = await enrol(browser, security)
    browser.forget_cookies()
    half = await app.login()
    assert (await browser.submit(half, otp=phone.code())).path == PATH
    done = await browser.submit(half, otp=phone.code(steps_ahead=1))
    assert "code" in done.parameters


async def test_other_sessions_of_the_person_have_to_give_the_new_factor(
    security: Page, browser: Browser, service: RunningService
) -> None:
    other = Browser(service.issuer)
    assert (await other.log_in(await other.get("/account"))).path == "/account"
    await enrol(browser, security)
    assert (await other.get("/account")).path == PATH
    await other.close()


async def test_wrong_code_keeps_the_secret_of_the_page(security: Page, browser: Browser) -> None:
    page = await open_add(browser, security)
    phone = phone_of(page)
    again = await browser.submit(page, otp=phone.wrong_code())
    assert again.has("login-error")
    assert phone_of(again).secret == phone.secret
    assert (await browser.submit(again, otp=phone.code())).has("recovery-codes")


async def test_name_is_kept_after_a_wrong_code(security: Page, browser: Browser) -> None:
    page = await open_add(browser, security)
    again = await browser.submit(page, otp=phone_of(page).wrong_code(), name='My "phone"')
    assert again.element("factor-name")["value"] == 'My "phone"'


async def test_name_with_letters_that_cannot_be_seen_is_left_out(
    security: Page, browser: Browser, service: RunningService
) -> None:
    await enrol(browser, security, "My\u202ephone")
    totp = (await service.features.shared.factors.find(ALICE)).totp
    assert (totp and totp.name) == ""


@pytest.mark.parametrize(
    ("asked_by", "reached"), [("/account/requests",) * 2, ("/account", SECURITY), (ADD, SECURITY)]
)
async def test_cancelled_enrolment_leads_back_to_the_page_that_asked_for_it(
    security: Page, browser: Browser, asked_by: str, reached: str
) -> None:
    link = security.element("add-otp")["href"]
    page = await browser.get(f"{link}&return_to={asked_by}")
    assert urlsplit(page.element("cancel")["href"] or "").path == reached


async def test_secret_that_this_service_did_not_show_is_not_enrolled(
    security: Page, browser: Browser, service: RunningService
) -> None:
    page, own = await open_add(browser, security), Phone()
    for sealed in (own.secret, "", "gAAAAA", None):
        await browser.submit(page, otp=own.code(), enrolment=sealed)
    assert not (await service.features.shared.factors.find(ALICE)).is_enrolled


async def test_secret_that_another_person_was_shown_is_not_enrolled(
    security: Page, browser: Browser
) -> None:
    page = await open_add(browser, security)
    browser.forget_cookies()
    own = await open_add(browser, await browser.log_in(await browser.get(SECURITY), "bob"))
    sealed = dict(page.forms[0].fields)["enrolment"]
    again = await browser.submit(own, otp=phone_of(page).code(), enrolment=sealed)
    assert again.has("login-error")


async def test_secret_expires(browser: Browser, clock: Clock) -> None:
    page = await open_add(browser, await browser.log_in(await browser.get(SECURITY)))
    clock.forward(minutes=16)
    csrf = await browser.log_in(await browser.get(ADD))
    sealed = dict(page.forms[0].fields)["enrolment"]
    again = await browser.submit(csrf, otp=phone_of(page).code(), enrolment=sealed)
    assert again.has("login-error")


@pytest.mark.parametrize("path", [ADD, SECURITY])
async def test_stolen_session_whose_login_is_old_changes_nothing(
    browser: Browser, clock: Clock, service: RunningService, path: str
) -> None:
    page = await open_add(browser, await browser.log_in(await browser.get(SECURITY)))
    fields = dict(page.forms[0].fields)
    phone = phone_of(page)
    clock.forward(minutes=5, seconds=1)
    fields |= {"otp": phone.code(), "action": "confirm"}
    assert (await browser.post(path, fields)).path == "/account/login"
    assert (await browser.get(page.url)).path == "/account/login"
    assert not (await service.features.shared.factors.find(ALICE)).is_enrolled


async def test_old_login_removes_and_renews_nothing(
    browser: Browser, clock: Clock, service: RunningService, phone: Phone
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    page = await browser.submit(half, otp=phone.code())
    assert page.path == SECURITY
    before = await service.features.shared.factors.find(ALICE)
    clock.forward(minutes=5, seconds=1)
    for form in range(len(page.forms)):
        for action in ("remove", "rename", "renew-recovery-codes"):
            sent = await browser.submit(page, form, action=action, name="stolen", factor="otp")
            assert sent.path == "/account/login"
    assert await service.features.shared.factors.find(ALICE) == before


async def test_password_alone_of_one_who_has_a_factor_adds_none(
    browser: Browser, phone: Phone
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    assert half.path == PATH, phone
    assert (await browser.get(ADD)).path == PATH
    assert (await browser.get(SECURITY)).path in {PATH, "/account/login"}


async def test_factor_is_named_and_removed(
    browser: Browser, phone: Phone, service: RunningService, events: list[object]
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    page = await browser.submit(half, otp=phone.code())
    page = await browser.submit(page, 0, action="rename", name="  Old   phone ")
    assert "Old phone" in page.text
    page = await browser.submit(page, 1, action="remove")
    assert (page.path, "Old phone" in page.text) == (SECURITY, False)
    assert FactorRemoved(subject=ALICE, method="otp", address="127.0.0.1") in events
    assert (
        await service.features.shared.kv.get(
            service.features.shared.stores.factors.key(digest(ALICE))
        )
        is None
    )


async def test_new_recovery_codes_replace_the_old_ones(
    browser: Browser, phone: Phone, app: ClientApp, events: list[object]
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    page = await browser.submit(half, otp=phone.code())
    page = await browser.submit(page, 2, action="renew-recovery-codes")
    codes = page.text_of("recovery-codes").split()
    assert not set(codes) & set(phone.recovery_codes)
    assert RecoveryCodesRenewed(subject=ALICE, address="127.0.0.1") in events
    browser.forget_cookies()
    half = await app.login()
    for code, accepted in ((phone.recovery_codes[0], False), (codes[0], True)):
        page = await browser.submit(half, method="recovery_code", recovery_code=code)
        assert page.has("recovery-codes-left") is accepted


async def test_no_recovery_codes_are_made_after_the_last_factor_was_removed(
    browser: Browser, phone: Phone, service: RunningService, events: list[object]
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    page = await browser.submit(half, otp=phone.code())
    await browser.submit(page, 1, action="remove")
    again = await browser.submit(page, 2, action="renew-recovery-codes")
    assert (again.path, again.has("recovery-codes")) == (SECURITY, False)
    assert await service.features.shared.factors.find(ALICE) == Factors()
    assert not [event for event in events if isinstance(event, RecoveryCodesRenewed)]


async def test_form_of_another_persons_page_changes_nothing(
    browser: Browser, phone: Phone, service: RunningService
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    page = await browser.submit(half, otp=phone.code())
    await Phone().enrol(service, "bob")
    fields = dict(page.forms[1].fields) | {"action": "remove", "session_id": "another"}
    assert (await browser.post(SECURITY, fields)).path == "/account/login"
    assert (await service.features.shared.factors.find(ALICE)).is_enrolled
