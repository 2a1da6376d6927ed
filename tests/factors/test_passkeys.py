"""A person signs in by a passkey, alone or after the password (WebAuthn §7.2, RFC 8176 §2)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from service.events.factors import FactorAccepted, PasskeyRejected, PasskeySignInSucceeded
from service.events.users import SessionStarted
from service.model.factors import Factors
from tests.conftest import Start
from tests.driving.authenticator import ELIGIBLE, PRESENT, VERIFIED, Authenticator
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration, user_in
from tests.driving.service import RunningService, claims_in
from tests.factors.keyring import enrol, options_in, send, use
from tests.factors.phone import ALICE
from tests.factors.test_loading import BOB

pytestmark = pytest.mark.rfc("webauthn#7.2", "8176#2")

PATH = "/account/second-factor"


@pytest.fixture
async def mine(service: RunningService) -> Authenticator:
    """Alice's."""
    return await enrol(service)


def refusals(events: list[object]) -> list[str]:
    return [event.reason for event in events if isinstance(event, PasskeyRejected)]


async def amr_of(app: ClientApp, page: Page) -> Any:
    return claims_in((await app.redeem(page.parameters["code"]))["id_token"])["amr"]


@pytest.mark.parametrize(("flags", "key"), [(0, "hwk"), (ELIGIBLE, "swk")], ids=["bound", "synced"])
async def test_passkey_alone_is_two_factors(
    app: ClientApp, service: RunningService, events: list[object], flags: int, key: str
) -> None:
    mine = await enrol(service, flags=PRESENT | VERIFIED | flags)
    page = await use(app.browser, await app.authorize(), mine)
    assert await amr_of(app, page) == [key, "user", "mfa"]
    signed_in = PasskeySignInSucceeded(subject=ALICE, username="alice", address="127.0.0.1")
    assert signed_in in events


async def test_passkey_alone_opens_the_own_account(browser: Browser, mine: Authenticator) -> None:
    login = await browser.get("/account/login?return_to=/account/requests")
    assert (await use(browser, login, mine)).path == "/account/requests"


@pytest.mark.usefixtures("mine")
async def test_login_page_asks_everybody_for_the_same(app: ClientApp) -> None:
    for hint in ("alice", "bob", "nobody"):
        page = await app.authorize(login_hint=hint, prompt="login")
        options = options_in(page)
        assert options.pop("challenge")
        assert options == {
            "rpId": "localhost",
            "allowCredentials": [],
            "userVerification": "required",
            "timeout": 300_000,
        }


async def test_passkey_without_user_verification_does_not_sign_in_alone(
    app: ClientApp, mine: Authenticator, events: list[object]
) -> None:
    mine.flags = PRESENT
    page = await use(app.browser, await app.authorize(), mine)
    assert (page.path, page.has("login-error")) == ("/account/login", True)
    assert refusals(events) == ["unverified"]
    half = await app.browser.log_in(page)
    assert await amr_of(app, await use(app.browser, half, mine)) == ["pwd", "hwk", "user", "mfa"]


async def test_passkey_completes_the_sign_in_by_password(
    app: ClientApp, mine: Authenticator, events: list[object]
) -> None:
    half = await app.login()
    assert half.path == PATH
    known = {"type": "public-key", "id": mine.use(options_in(half))["id"]}
    assert options_in(half)["allowCredentials"] == [known | {"transports": ["internal"]}]
    page = await use(app.browser, half, mine)
    assert await amr_of(app, page) == ["pwd", "hwk", "user", "mfa"]
    assert FactorAccepted(subject=ALICE, method="passkey", address="127.0.0.1") in events


@pytest.mark.parametrize("step", ["alone", "second factor"])
async def test_response_counts_once(app: ClientApp, mine: Authenticator, step: str) -> None:
    page = await app.authorize() if step == "alone" else await app.login()
    response = mine.use(options_in(page))
    pages = await asyncio.gather(*[send(app.browser, page, response) for _ in range(5)])
    assert sum("code" in page.parameters for page in pages) == 1


async def test_response_of_another_browser_is_refused(
    app: ClientApp, mine: Authenticator, service: RunningService, events: list[object]
) -> None:
    response = mine.use(options_in(await app.authorize()))
    other = Browser(service.issuer)
    page = await send(other, await ClientApp(service, other).authorize(), response)
    await other.close()
    assert page.path == "/account/login"
    assert refusals(events) == ["expired"]


async def test_response_for_another_request_is_refused(
    app: ClientApp, mine: Authenticator, events: list[object]
) -> None:
    response = mine.use(options_in(await app.authorize()))
    page = await send(app.browser, await app.authorize(), response)
    assert page.path == "/account/login"
    assert refusals(events) == ["expired"]


async def test_second_factor_for_another_request_of_the_user_is_refused(
    app: ClientApp, service: RunningService, events: list[object]
) -> None:
    assert "code" in (await app.login()).parameters
    mine = await enrol(service)
    first, second = await app.authorize(state="first"), await app.authorize(state="second")
    assert (first.path, second.path) == (PATH, PATH)
    page = await send(app.browser, second, mine.use(options_in(first)))
    assert page.path == PATH
    rejected = [each for each in events if isinstance(each, PasskeyRejected)]
    assert [(each.subject, each.reason, each.address) for each in rejected] == [
        (ALICE, "expired", "127.0.0.1")
    ]
    assert (await use(app.browser, first, mine)).parameters["state"] == "first"


async def test_passkey_of_another_person_is_refused_as_second_factor(
    app: ClientApp, mine: Authenticator, service: RunningService, events: list[object]
) -> None:
    theirs = await enrol(service, sub="88421113")
    half = await app.login()
    assert (await use(app.browser, half, theirs)).path == PATH
    theirs.credential_id = mine.credential_id
    half = await app.browser.get(half.url)
    assert (await use(app.browser, half, theirs)).path == PATH
    assert refusals(events) == ["unknown", "unverified"]
    assert not [each for each in events if isinstance(each, SessionStarted)]


@pytest.mark.parametrize(
    "lie",
    [
        {"origin": "https://evil.example"},
        {"rp_id": "evil.example"},
        {"client_data": {"crossOrigin": True}},
        {"credential_id": b"unknown"},
        {"user_handle": "c29tZWJvZHk"},
        {"sign": lambda _: b"nonsense"},
    ],
    ids=["origin", "rp-id", "frame", "unknown", "another-user", "signature"],
)
async def test_what_the_passkey_did_not_sign_for_this_page_is_refused_alike(
    app: ClientApp, mine: Authenticator, lie: dict[str, Any]
) -> None:
    for name, value in lie.items():
        setattr(mine, name, value)
    page = await use(app.browser, await app.authorize(), mine)
    assert (page.status, page.path) == (200, "/account/login")
    assert page.text_of("login-error").startswith("That passkey didn’t work.")


@pytest.mark.parametrize("step", ["alone", "second factor"])
async def test_counter_that_goes_back_is_refused_and_audited(
    app: ClientApp, mine: Authenticator, events: list[object], step: str
) -> None:
    mine.count = 7
    await use(app.browser, await app.authorize(), mine)
    app.browser.forget_cookies()
    mine.count = 6
    page = await app.authorize() if step == "alone" else await app.login()
    assert (await use(app.browser, page, mine)).has("login-error")
    (rejected,) = [event for event in events if isinstance(event, PasskeyRejected)]
    assert (rejected.reason, rejected.cause) == ("counter", "6 comes after 7")
    assert rejected.subject == ALICE


@pytest.mark.parametrize(
    ("lie", "subject"),
    [
        ({"origin": "https://evil.example"}, ALICE),
        ({"client_data": {"crossOrigin": True}}, ALICE),
        ({"sign": lambda _: b"nonsense"}, ALICE),
        ({"user_handle": "c29tZWJvZHk"}, ALICE),
        ({"credential_id": b"unknown"}, None),
    ],
    ids=["origin", "frame", "signature", "another-user", "unknown"],
)
async def test_refused_passkey_is_audited_with_its_user(
    app: ClientApp,
    mine: Authenticator,
    events: list[object],
    lie: dict[str, Any],
    subject: str | None,
) -> None:
    for name, value in lie.items():
        setattr(mine, name, value)
    await use(app.browser, await app.authorize(), mine)
    (rejected,) = [event for event in events if isinstance(event, PasskeyRejected)]
    assert rejected.subject == subject


async def test_two_uses_with_one_counter_do_not_both_count(
    mine: Authenticator, service: RunningService
) -> None:
    mine.count = 1
    browsers = [Browser(service.issuer) for _ in range(4)]
    logins = [await ClientApp(service, each).authorize() for each in browsers]
    pages = await asyncio.gather(
        *[use(each, login, mine) for each, login in zip(browsers, logins, strict=True)]
    )
    await asyncio.gather(*[each.close() for each in browsers])
    assert sum("code" in page.parameters for page in pages) == 1


async def test_removed_passkey_does_not_sign_in(
    app: ClientApp, mine: Authenticator, service: RunningService, events: list[object]
) -> None:
    await service.features.shared.factors.change(ALICE, lambda _: Factors())
    page = await use(app.browser, await app.authorize(), mine)
    assert page.path == "/account/login"
    assert refusals(events) == ["unknown"]


async def test_disabled_user_does_not_sign_in_by_passkey(
    app: ClientApp, service: RunningService, events: list[object]
) -> None:
    mine = await enrol(service, sub="5")
    page = await use(app.browser, await app.authorize(), mine)
    assert page.path == "/account/login"
    assert refusals(events) == ["unknown"]


@pytest.mark.parametrize("one_client", [{"enable_local_login": False}], ids=["providers-only"])
async def test_client_without_local_login_takes_no_passkey(
    start: Start, one_client: dict[str, Any]
) -> None:
    configuration = fresh_configuration()
    client_in(configuration, "web").update(one_client)
    service = await start(configuration)
    app = ClientApp(service, Browser(service.issuer))
    page = await app.authorize()
    assert not page.has("passkey")
    assert (await send(app.browser, page, {})).status == 400
    await app.browser.close()


@pytest.mark.parametrize(("tenant", "admitted"), [("acme", True), ("beta", False)])
async def test_passkey_signs_in_to_a_client_of_its_users_tenant_alone(
    start: Start, tenant: str, admitted: bool
) -> None:
    configuration = fresh_configuration() | {"tenants": [{"name": "acme"}, {"name": "beta"}]}
    client_in(configuration, "web")["tenants"] = ["acme"]
    user_in(configuration, "alice")["tenant"] = tenant
    service = await start(configuration)
    browser, mine = Browser(service.issuer), await enrol(service)
    page = await use(browser, await ClientApp(service, browser).authorize(), mine)
    await browser.close()
    assert ("code" in page.parameters, page.has("login-error")) == (admitted, not admitted)


async def test_many_refused_uses_of_one_passkey_lock_it_here(
    app: ClientApp, mine: Authenticator, events: list[object]
) -> None:
    honest, mine.sign = mine.sign, lambda _: b"nonsense"
    page = await app.authorize()
    for _ in range(5):
        page = await use(app.browser, page, mine)
    mine.sign = honest
    assert (await use(app.browser, page, mine)).has("login-error")
    assert refusals(events) == ["unverified"] * 5 + ["locked"]
    assert (await app.browser.log_in(page)).path == PATH


async def test_response_that_is_too_long_is_an_error_page(app: ClientApp) -> None:
    page = await app.browser.submit(await app.authorize(), passkey="x" * 8193)
    assert (page.status, page.error) == (400, "invalid_request")


async def test_response_that_is_no_json_is_refused_on_the_page(
    app: ClientApp, events: list[object]
) -> None:
    page = await app.browser.submit(await app.authorize(), passkey="x")
    assert page.has("login-error")
    assert refusals(events) == ["malformed"]


@pytest.mark.usefixtures("fresh_minute")
async def test_no_network_gets_more_challenges_than_sign_ins(start: Start) -> None:
    service = await start(fresh_configuration() | {"limits": {"parked_requests_per_minute": 2}})
    browser = Browser(service.issuer)
    pages = [await browser.get("/account/login") for _ in range(4)]
    assert [page.has("passkey") for page in pages].count(True) <= 2
    assert not pages[-1].has("passkey")
    assert pages[-1].has("password")
    await browser.close()


@pytest.mark.usefixtures("fresh_minute")
async def test_no_user_gets_more_challenges_than_sign_ins(start: Start) -> None:
    service = await start(fresh_configuration() | {"limits": {"parked_requests_per_minute": 4}})
    for sub in (ALICE, BOB):
        await enrol(service, sub=sub)
    browser = Browser(service.issuer)
    half = await browser.log_in(await browser.get("/account"))
    statuses = [(await browser.get(half.url)).status for _ in range(3)]
    browser.forget_cookies()
    others = await browser.log_in(await browser.get("/account"), "bob")
    assert (statuses, others.has("passkey")) == ([200, 200, 429], True)
    await browser.close()


async def test_issuer_on_an_address_offers_no_passkeys(start: Start) -> None:
    service = await start(fresh_configuration() | {"issuer": "http://127.0.0.1:8080"})
    assert service.features.passkey_sign_in is None


@pytest.mark.rfc("9470#4")
@pytest.mark.parametrize("flags", [0, ELIGIBLE], ids=["bound", "synced"])
async def test_step_up_to_a_security_key_asks_for_one_that_cannot_be_copied(
    start: Start, flags: int
) -> None:
    contexts = [
        {"acr": "password", "amr": ["pwd"]},
        {"acr": "security_key", "amr": ["hwk", "mfa"]},
    ]
    mfa = {"mfa": {"required": "never"}, "authentication_contexts": contexts}
    service = await start(fresh_configuration() | mfa)
    app = ClientApp(service, Browser(service.issuer))
    assert "code" in (await app.login()).parameters
    mine = await enrol(service, flags=PRESENT | VERIFIED | flags)
    essential = {"acr": {"essential": True, "values": ["security_key"]}}
    page = await app.authorize(claims=json.dumps({"id_token": essential}))
    if not flags:
        tokens = await app.redeem((await use(app.browser, page, mine)).parameters["code"])
        assert claims_in(tokens["id_token"])["acr"] == "security_key"
    else:
        page = await app.browser.log_in(page)  # as somebody who could meet it might
        assert page.error == "unmet_authentication_requirements"
    await app.browser.close()


async def test_no_response_of_an_authenticator_is_in_the_events(
    app: ClientApp, mine: Authenticator, events: list[object]
) -> None:
    response = mine.use(options_in(await app.authorize()))
    await send(app.browser, await app.authorize(), response)
    assert response["response"]["signature"] not in json.dumps([repr(one) for one in events])
