"""A user who needs a second factor without having one enrols it while signing in, or gets a page that says so (mfa.required, mfa.enrolment)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.conftest import Clock, Start
from tests.driving.authenticator import ELIGIBLE, PRESENT, VERIFIED, Authenticator
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.refusing_store import refuse_write
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService, claims_in
from tests.factors.conftest import PATH
from tests.factors.keyring import options_in, send
from tests.factors.phone import ALICE, Phone
from tests.factors.test_enrolment import ADD, phone_of
from tests.factors.test_loading import BOB

STRONG = {"acr": "strong", "any_of": [["pwd", "otp"], ["swk", "user"], ["hwk", "user"]]}
INSISTING = json.dumps({"id_token": {"acr": {"essential": True, "value": "strong"}}})


@pytest.fixture
def config(request: pytest.FixtureRequest) -> dict[str, Any]:
    usual = {"authentication_contexts": [{"acr": "password", "amr": ["pwd"]}, STRONG]}
    changes = getattr(request, "param", {"mfa": {"required": "always", "enrolment": "at_login"}})
    return fresh_configuration() | usual | changes


def with_mfa(**mfa: str) -> pytest.MarkDecorator:
    """Run the test with this section."""
    return pytest.mark.parametrize("config", [{"mfa": mfa}], indirect=True)


async def test_first_factor_is_enrolled_while_signing_in(app: ClientApp, browser: Browser) -> None:
    page = await app.login()
    assert page.path == ADD
    assert "sid" not in browser.cookies
    codes = await browser.submit(page, otp=phone_of(page).code())
    assert codes.has("recovery-codes")
    done = await browser.get(codes.element("continue")["href"] or "")
    claims = claims_in((await app.redeem(done.parameters["code"]))["id_token"])
    assert (claims["amr"], claims["acr"]) == (["pwd", "otp", "mfa"], "strong")


async def test_recovery_codes_are_shown_although_the_store_takes_no_note_of_the_sign_in(
    app: ClientApp, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await app.login()
    kv = app.service.features.shared.kv
    write = kv.write
    refuse_write(kv, monkeypatch, of=":pk")
    codes = await browser.submit(page, otp=phone_of(page).code())
    assert kv.write == write
    assert codes.has("recovery-codes")
    assert "sid" in browser.cookies
    done = await browser.get(codes.element("continue")["href"] or "")
    assert "code" in done.parameters


@pytest.mark.parametrize(
    ("wanted", "reached"),
    [
        ("/account", "/account"),
        ("/account/requests", "/account/requests"),
        (f"{ADD}?method=otp", "/account/security"),
    ],
    ids=["the own account", "requests", "the page that adds a factor"],
)
async def test_first_factor_is_enrolled_on_the_way_to(
    browser: Browser, wanted: str, reached: str
) -> None:
    page = await browser.log_in(await browser.get(wanted))
    assert page.path == ADD
    codes = await browser.submit(page, otp=phone_of(page).code())
    assert (await browser.get(codes.element("continue")["href"] or "")).path == reached


async def test_person_without_the_code_gets_no_session(app: ClientApp, browser: Browser) -> None:
    page = await app.login()
    assert (await browser.submit(page, otp=phone_of(page).wrong_code())).path == ADD
    assert "sid" not in browser.cookies
    assert (await browser.submit(page, action="cancel")).error == "access_denied"


async def test_user_with_a_factor_cannot_enrol_another_one_while_signing_in(
    app: ClientApp, browser: Browser, service: RunningService
) -> None:
    phone = Phone()
    page = await app.login()
    await phone.enrol(service)
    assert (await browser.submit(page, otp=phone_of(page).code())).path == PATH
    factors = await service.features.shared.factors.find(ALICE)
    assert factors.totp is not None
    assert factors.totp.secret == phone.secret


@with_mfa(required="enrolled", enrolment="at_login")
async def test_essential_acr_offers_the_enrolment(app: ClientApp, browser: Browser) -> None:
    page = await app.login(claims=INSISTING)
    assert page.path == ADD
    codes = await browser.submit(page, otp=phone_of(page).code())
    done = await browser.get(codes.element("continue")["href"] or "")
    assert claims_in((await app.redeem(done.parameters["code"]))["id_token"])["acr"] == "strong"


def with_context(required: str, **context: Any) -> pytest.MarkDecorator:
    """Run the test where this is what `strong` needs."""
    contexts = [{"acr": "password", "amr": ["pwd"]}, {"acr": "strong", **context}]
    mfa = {"required": required, "enrolment": "at_login"}
    changes = {"mfa": mfa, "authentication_contexts": contexts}
    return pytest.mark.parametrize("config", [changes], indirect=True, ids=[required])


KEYS = {"any_of": [["swk", "user"], ["hwk", "user"]]}


@pytest.mark.parametrize("first_step", ["password", "step-up"])
@with_context("enrolled", **KEYS)
async def test_essential_acr_that_needs_a_passkey_offers_its_enrolment(
    app: ClientApp, browser: Browser, service: RunningService, first_step: str
) -> None:
    if first_step == "step-up":
        await app.login()
    page = await app.login(claims=INSISTING)
    assert (page.path, page.has("add-passkey"), page.has("totp-secret")) == (ADD, True, False)
    other = await browser.get(f"{page.url}&method=otp")
    assert (other.has("add-passkey"), other.has("totp-secret")) == (True, False)
    mine = Authenticator(origin=service.issuer)
    codes = await send(browser, page, mine.create(options_in(page, "add-passkey")))
    done = await browser.get(codes.element("continue")["href"] or "")
    claims = claims_in((await app.redeem(done.parameters["code"]))["id_token"])
    assert (claims["acr"], claims["amr"][-1]) == ("strong", "mfa")
    assert set(claims["amr"]) == {"pwd", "hwk", "user", "mfa"}


@with_context("always", **KEYS)
async def test_factor_that_does_not_give_the_essential_acr_is_not_offered(
    app: ClientApp, service: RunningService
) -> None:
    page = await app.login(claims=INSISTING)
    assert (page.has("add-passkey"), page.has("totp-secret")) == (True, False)
    page = await app.authorize()
    assert page.path == "/account/login"
    page = await app.browser.log_in(page)
    assert page.has("totp-secret")
    assert any("method=passkey" in link for link in page.links)
    assert not (await service.features.shared.factors.find(ALICE)).is_enrolled


@with_context("enrolled", amr=["hwk"])
async def test_passkey_that_can_be_copied_does_not_meet_an_acr_of_a_security_key(
    app: ClientApp, browser: Browser, service: RunningService
) -> None:
    page = await app.login(claims=INSISTING)
    mine = Authenticator(origin=service.issuer, flags=PRESENT | VERIFIED | ELIGIBLE)
    codes = await send(browser, page, mine.create(options_in(page, "add-passkey")))
    done = await browser.get(codes.element("continue")["href"] or "")
    assert done.error == "unmet_authentication_requirements"


async def test_no_passkey_is_offered_where_browsers_have_none(start: Start) -> None:
    contexts = [{"acr": "password", "amr": ["pwd"]}, {"acr": "strong", **KEYS}]
    service = await start(
        fresh_configuration()
        | {"mfa": {"enrolment": "at_login"}, "authentication_contexts": contexts}
        | {"issuer": "http://127.0.0.1:8080"}
    )
    assert [one.name for one in service.features.factor_changes.methods] == ["otp"]


@with_mfa(required="enrolled", enrolment="at_login")
async def test_old_session_enrols_nothing_without_the_password(
    app: ClientApp, browser: Browser, clock: Clock
) -> None:
    await app.login()
    clock.forward(minutes=5, seconds=1)
    page = await app.authorize(claims=INSISTING)
    assert page.path == "/account/login"
    assert (
        await browser.get(f"{ADD}?request={page.parameters['request']}")
    ).path == "/account/login"
    assert (await browser.log_in(page)).path == ADD


@with_mfa(required="enrolled", enrolment="at_login")
async def test_password_of_another_user_enrols_nothing_in_an_old_session(
    app: ClientApp, browser: Browser, clock: Clock
) -> None:
    await Phone().enrol(app.service, BOB)
    await app.login()
    clock.forward(minutes=5, seconds=1)
    request = (await app.authorize(claims=INSISTING)).parameters["request"]
    of_another = await app.login("bob", prompt="login")
    assert of_another.path == PATH
    fresh_login = of_another.parameters["fresh_login"]
    page = await browser.get(f"{ADD}?request={request}&fresh_login={fresh_login}")
    assert page.path == "/account/login"


@pytest.mark.parametrize(
    "config",
    [{"mfa": {"required": required, "enrolment": "at_login"}} for required in ("always", "never")],
    indirect=True,
    ids=["half a sign-in", "a session"],
)
async def test_all_cookies_of_a_login_just_now_enrol_nothing_elsewhere(
    browser: Browser, service: RunningService
) -> None:
    """Neither at the own account nor for a request that the thief begins, to which the password alone leads on."""
    await browser.log_in(await browser.get("/account"))
    thief = Browser(service.issuer)
    thief.put_cookies(browser.cookies)
    parked = await ClientApp(service, thief).authorize(claims=INSISTING)
    assert parked.path == "/account/login"
    request = parked.parameters["request"]
    for at in (PATH, ADD, f"{PATH}?request={request}", f"{ADD}?request={request}"):
        assert (await thief.get(at)).path in {"/account", "/account/login"}, at
    assert (await thief.log_in(parked)).path == ADD
    await thief.close()


@with_mfa(required="enrolled", enrolment="at_login")
async def test_wished_acr_enrols_nothing(app: ClientApp) -> None:
    assert "code" in (await app.login(acr_values="strong")).parameters


@with_mfa(required="enrolled")
async def test_essential_acr_without_enrolment_at_login_is_unmet(app: ClientApp) -> None:
    page = await app.login(claims=INSISTING)
    assert page.error == "unmet_authentication_requirements"


@with_mfa(required="always")
async def test_person_who_cannot_enrol_here_is_told_so_and_refused_at_the_client(
    app: ClientApp, browser: Browser
) -> None:
    page = await app.login()
    assert (page.path, page.has("no-second-factor")) == (PATH, True)
    assert (await browser.get(f"{ADD}?{page.url.partition('?')[2]}")).path == PATH
    assert "sid" not in browser.cookies
    refused = await browser.submit(page, action="cancel")
    assert refused.error == "access_denied"


@with_mfa(required="always")
async def test_last_factor_is_kept_where_everybody_needs_one(
    browser: Browser, service: RunningService
) -> None:
    phone = Phone()
    await phone.enrol(service)
    half = await browser.log_in(await browser.get("/account/security"))
    page = await browser.submit(half, otp=phone.code())
    assert (await browser.submit(page, 1, action="remove")).has("login-error")
    assert (await service.features.shared.factors.find(ALICE)).is_enrolled


@with_mfa(required="never")
async def test_factor_is_not_requested_at_a_client_that_requires_none(
    app: ClientApp, browser: Browser, service: RunningService
) -> None:
    await Phone().enrol(service)
    assert "code" in (await app.login()).parameters
    assert (await browser.get("/account")).path == PATH


@pytest.mark.parametrize(
    ("required", "at_client", "enrolled", "asked"),
    [
        ("never", "enrolled", True, PATH),
        ("never", "enrolled", False, None),
        ("never", "always", False, PATH),
        ("enrolled", "never", True, None),
        ("enrolled", "always", False, PATH),
        ("always", "enrolled", False, None),
        ("always", "never", True, None),
    ],
)
async def test_client_says_for_itself_who_needs_a_factor(
    start: Start, required: str, at_client: str, enrolled: bool, asked: str | None
) -> None:
    configuration = fresh_configuration() | {"mfa": {"required": required}}
    client_in(configuration, "web")["mfa_required"] = at_client
    service = await start(configuration)
    if enrolled:
        await Phone().enrol(service)
    browser = Browser(service.issuer)
    page = await ClientApp(service, browser).login()
    assert page.path == asked if asked else "code" in page.parameters
    await browser.close()


@pytest.mark.parametrize(
    ("required", "leads"), [("always", False), ("enrolled", True), ("never", True)]
)
async def test_page_leads_to_the_account_that_opens_without_a_factor(
    start: Start, required: str, leads: bool
) -> None:
    configuration = fresh_configuration() | {"mfa": {"required": required}}
    client_in(configuration, "web")["mfa_required"] = "always"
    service = await start(configuration)
    browser = Browser(service.issuer)
    page = await ClientApp(service, browser).login()
    assert (page.has("no-second-factor"), page.has("set-up")) == (True, leads)
    await browser.close()


async def test_session_that_began_at_a_client_that_asks_less_is_completed_elsewhere(
    start: Start,
) -> None:
    configuration = fresh_configuration()
    client_in(configuration, "web")["mfa_required"] = "never"
    service = await start(configuration)
    await Phone().enrol(service)
    browser = Browser(service.issuer)
    assert "code" in (await ClientApp(service, browser).login()).parameters
    other = ClientApp(service, browser, "consenting")
    assert (await other.authorize(prompt="none")).error == "interaction_required"
    page = await other.authorize()
    assert page.path == PATH
    consent = await browser.get(f"/account/consent?request={page.parameters['request']}")
    assert consent.path == PATH
    await browser.close()
