"""A person adds, names and removes passkeys at the own account (WebAuthn §7.1)."""

from __future__ import annotations

from typing import Any

import pytest
from fido2.utils import websafe_encode

from service.events.factors import FactorEnrolled, FactorRemoved, PasskeyRejected
from service.identity.factors.passkeys import MAX_PASSKEYS
from service.identity.factors.stored import PasskeyOwners
from tests.conftest import Clock, Start
from tests.driving.authenticator import PRESENT, Authenticator
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService
from tests.factors.keyring import enrol, options_in, send, use
from tests.factors.phone import ALICE, Phone
from tests.factors.test_enrolment import open_add

pytestmark = pytest.mark.rfc("webauthn#7.1")

SECURITY = "/account/security"
ADD = f"{SECURITY}/add?method=passkey"


@pytest.fixture
async def add_page(browser: Browser) -> Page:
    """The page that makes a passkey, after Alice's password."""
    return await browser.log_in(await browser.get(ADD))


async def go_on(browser: Browser, codes: Page) -> Page:
    """Leave the page of the recovery codes, for the one that lists the factors."""
    return await browser.get(codes.element("continue")["href"] or "")


@pytest.fixture
def mine(service: RunningService) -> Authenticator:
    return Authenticator(origin=service.issuer)


async def add(browser: Browser, page: Page, mine: Authenticator) -> Page:
    return await send(browser, page, mine.create(options_in(page, "add-passkey")))


async def test_login_on_the_way_to_a_new_passkey_leads_there(browser: Browser) -> None:
    page = await browser.log_in(await browser.get(ADD))
    assert (page.path, page.has("add-passkey")) == (SECURITY + "/add", True)


async def test_browser_asks_at_once_only_for_a_passkey_that_the_user_has_chosen(
    browser: Browser, phone: Phone
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    page = await browser.submit(half, otp=phone.code())
    link = page.element("add-passkey")["href"] or ""
    for method, at_once in (("passkey", True), ("another", False)):
        shown = await browser.get(link.replace("=passkey", f"={method}"))
        assert ("data-asks-at-once" in shown.element("add-passkey")) is at_once, method


async def test_new_passkey_signs_in_alone(
    browser: Browser, add_page: Page, mine: Authenticator, app: ClientApp, events: list[object]
) -> None:
    done = await add(browser, add_page, mine)
    assert done.has("recovery-codes")
    assert FactorEnrolled(subject=ALICE, method="passkey", address="127.0.0.1") in events
    browser.forget_cookies()
    assert "code" in (await use(browser, await app.authorize(), mine)).parameters


async def test_options_name_the_user_to_the_authenticator_and_ask_for_no_attestation(
    add_page: Page,
) -> None:
    options = options_in(add_page, "add-passkey")
    assert options["rp"] == {"id": "localhost", "name": "localhost"}
    assert (options["user"]["name"], options["attestation"]) == ("alice", "none")
    assert options["user"]["id"] not in {ALICE, "alice"}
    assert [each["alg"] for each in options["pubKeyCredParams"]] == [-8, -7, -257]


async def test_second_passkey_is_of_the_same_account_and_another_authenticator(
    browser: Browser, add_page: Page, mine: Authenticator
) -> None:
    listed = await go_on(browser, await add(browser, add_page, mine))
    options = options_in(await open_add(browser, listed, "passkey"), "add-passkey")
    assert options["user"]["id"] == mine.user_handle
    assert [each["id"] for each in options["excludeCredentials"]] == [
        mine.create(options)["id"],
    ]


async def test_passkey_has_the_name_that_the_person_gives_it(
    browser: Browser, add_page: Page, mine: Authenticator
) -> None:
    response = mine.create(options_in(add_page, "add-passkey"))
    page = await go_on(browser, await send(browser, add_page, response, name="Blue key"))
    assert "Blue key" in page.text
    await browser.submit(page, action="rename", factor=response["id"], name="Green key")
    assert "Green key" in (await browser.get(SECURITY)).text


async def test_removed_passkey_may_be_added_again_by_anybody(
    browser: Browser, add_page: Page, mine: Authenticator, events: list[object]
) -> None:
    response = mine.create(options_in(add_page, "add-passkey"))
    page = await go_on(browser, await send(browser, add_page, response))
    await browser.submit(page, action="remove", factor=response["id"])
    assert FactorRemoved(subject=ALICE, method="passkey", address="127.0.0.1") in events
    browser.forget_cookies()
    own = await browser.log_in(await browser.get(ADD), "bob")
    assert (await add(browser, own, mine)).has("recovery-codes")


async def test_removed_passkey_leaves_the_app(
    browser: Browser, phone: Phone, mine: Authenticator, service: RunningService
) -> None:
    half = await browser.log_in(await browser.get(SECURITY))
    page = await browser.submit(half, otp=phone.code())
    page = await open_add(browser, page, "passkey")
    response = mine.create(options_in(page, "add-passkey"))
    page = await send(browser, page, response)
    assert page.path == SECURITY
    await browser.submit(page, action="remove", factor=response["id"])
    factors = await service.features.shared.factors.find(ALICE)
    assert (factors.totp is None, factors.passkeys) == (False, ())


async def test_passkey_whose_owner_alone_was_noted_may_be_added(
    browser: Browser, add_page: Page, mine: Authenticator, service: RunningService
) -> None:
    owners = PasskeyOwners(service.features.shared.stores)
    assert await owners.claim(websafe_encode(mine.credential_id), ALICE)
    assert (await add(browser, add_page, mine)).has("recovery-codes")


async def test_passkey_of_another_person_is_not_added(
    browser: Browser, add_page: Page, service: RunningService, events: list[object]
) -> None:
    theirs = await enrol(service, sub="88421113")
    assert (await add(browser, add_page, theirs)).has("login-error")
    (rejected,) = [event for event in events if isinstance(event, PasskeyRejected)]
    assert (rejected.subject, rejected.cause) == (ALICE, "the passkey is another user's")


async def test_passkey_is_added_once(
    browser: Browser, add_page: Page, mine: Authenticator, service: RunningService
) -> None:
    listed = await go_on(browser, await add(browser, add_page, mine))
    again = await open_add(browser, listed, "passkey")
    assert (await add(browser, again, mine)).has("login-error")
    assert len((await service.features.shared.factors.find(ALICE)).passkeys) == 1


@pytest.mark.parametrize(
    "lie",
    [
        {"origin": "https://evil.example"},
        {"rp_id": "evil.example"},
        {"client_data": {"crossOrigin": True}},
        {"client_data": {"type": "webauthn.get"}},
        {"flags": 0},
    ],
    ids=["origin", "rp-id", "frame", "use", "absent"],
)
async def test_registration_that_is_not_for_this_page_is_refused(
    browser: Browser,
    add_page: Page,
    mine: Authenticator,
    service: RunningService,
    lie: dict[str, Any],
) -> None:
    for name, value in lie.items():
        setattr(mine, name, value)
    assert (await add(browser, add_page, mine)).has("login-error")
    assert not (await service.features.shared.factors.find(ALICE)).is_enrolled


async def test_rsa_key_that_takes_long_to_verify_with_is_not_added(
    browser: Browser, add_page: Page, service: RunningService, events: list[object]
) -> None:
    slow = Authenticator(origin=service.issuer, kind="RS256")
    slow.key[-2] = b"\1\0\0\0\1"
    assert (await add(browser, add_page, slow)).has("login-error")
    (rejected,) = [event for event in events if isinstance(event, PasskeyRejected)]
    assert rejected.cause == "The exponent has too many bits."


async def test_registration_of_another_persons_page_is_refused(
    browser: Browser, add_page: Page, mine: Authenticator, service: RunningService
) -> None:
    response = mine.create(options_in(add_page, "add-passkey"))
    browser.forget_cookies()
    own = await browser.log_in(await browser.get(ADD), "bob")
    assert (await send(browser, own, response)).has("login-error")
    assert not (await service.features.shared.factors.find("88421113")).is_enrolled


async def test_passkey_is_added_within_minutes_of_a_login_only(
    browser: Browser, add_page: Page, mine: Authenticator, clock: Clock
) -> None:
    clock.forward(minutes=6)
    assert (await add(browser, add_page, mine)).path == "/account/login"


async def test_passkey_without_user_verification_may_be_added(
    browser: Browser, add_page: Page, mine: Authenticator
) -> None:
    mine.flags = PRESENT
    assert (await add(browser, add_page, mine)).has("recovery-codes")


async def test_person_has_so_many_passkeys_at_most(
    browser: Browser, add_page: Page, service: RunningService
) -> None:
    codes = await add(browser, add_page, Authenticator(origin=service.issuer))
    for _ in range(MAX_PASSKEYS - 1):
        await enrol(service)
    listed = await go_on(browser, codes)
    assert not listed.has("add-passkey")
    assert not (await open_add(browser, listed)).has("add-passkey")


async def test_first_factor_that_is_added_at_login_may_be_a_passkey(start: Start) -> None:
    mfa = {"required": "always", "enrolment": "at_login"}
    service = await start(fresh_configuration() | {"mfa": mfa})
    browser = Browser(service.issuer)
    half = await ClientApp(service, browser).login()
    (link,) = [one for one in half.links if "method=passkey" in one]
    mine = Authenticator(origin=service.issuer)
    done = await add(browser, await browser.get(link), mine)
    page = await browser.get(done.element("continue")["href"] or "")
    await browser.close()
    assert "code" in page.parameters
