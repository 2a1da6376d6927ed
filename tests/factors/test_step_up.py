"""A client, a scope or an API asks for a stronger sign-in, and the person for what is missing only (RFC 9470, OIDC Core §5.5.1.1)."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from tests.ciba.consumption import REQUESTS, Device, ciba_client, ref_of
from tests.conftest import Clock
from tests.device.tv import TELEVISIONS, Television
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.factors.conftest import PATH
from tests.factors.keyring import enrol, use
from tests.factors.phone import Phone

pytestmark = pytest.mark.rfc("9470#5")

STRONG = {"acr": "strong", "any_of": [["pwd", "otp"], ["swk", "user"], ["hwk", "user"]]}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["authentication_contexts"] = [{"acr": "password", "amr": ["pwd"]}, STRONG]
    config["mfa"] = {"required": "never"}  # so that only an acr asks for more
    config["api_resources"][1]["required_acr"] = "strong"
    config["api_scopes"] = [
        {"name": "api1.read", "required_acr": "strong"},
        {"name": "weak", "required_acr": "password"},
    ]
    config["api_resources"][0]["scopes"] = ["api1", "api1.read", "weak"]
    client_in(config, "consenting")["allowed_scopes"] += ["weak"]
    client_in(config, "consenting")["required_acr"] = "strong"
    secrets = client_in(config, "web")["client_secrets"]
    config["clients"] += [
        *TELEVISIONS,
        ciba_client("till", secrets, required_acr="strong"),
        ciba_client("counter", secrets, required_acr="password"),
    ]
    return config


async def test_session_is_enough_where_nothing_more_is_required(app: ClientApp) -> None:
    assert "code" in (await app.login(scope="openid api1")).parameters


@pytest.mark.parametrize(
    "asked",
    [
        {"scope": "openid api2"},
        {"scope": "openid api1 api2", "resource": "api2"},
        {"scope": "openid api1.read"},
        {"scope": "openid", "acr_values": "strong"},
        {"scope": "openid", "claims": '{"id_token": {"acr": {"value": "strong"}}}'},
        {
            "scope": "openid",
            "claims": '{"id_token": {"acr": {"essential": true, "value": "strong"}}}',
        },
    ],
    ids=["api", "resource", "scope", "acr_values", "voluntary claim", "essential claim"],
)
async def test_more_is_asked_of_the_session_and_only_what_is_missing(
    app: ClientApp, phone: Phone, browser: Browser, asked: dict[str, str]
) -> None:
    await app.login(scope="openid")
    page = await app.authorize(**asked)
    assert page.path == PATH
    done = await browser.submit(page, otp=phone.code())
    claims = claims_in((await app.redeem(done.parameters["code"]))["id_token"])
    assert (claims["acr"], claims["amr"]) == ("strong", ["pwd", "otp", "mfa"])
    assert "code" in (await app.authorize(prompt="none", **asked)).parameters


@pytest.mark.parametrize("scope", ["openid", "openid weak"], ids=["alone", "and a weaker one"])
async def test_client_gets_no_less_than_it_is_registered_for(
    app: ClientApp, phone: Phone, browser: Browser, scope: str
) -> None:
    app = ClientApp(app.service, browser, "consenting")
    page = await app.login(scope=scope, acr_values="password")
    assert page.path == PATH
    consent = await browser.submit(page, otp=phone.code())
    done = await browser.submit(consent, action="allow", scope=scope.split())
    assert claims_in((await app.redeem(done.parameters["code"]))["id_token"])["acr"] == "strong"


@pytest.mark.parametrize(("asked", "told"), [("strongest", "strongest"), ("password", "strong")])
async def test_client_that_demands_one_context_may_ask_for_a_stronger_one(
    app: ClientApp, config: dict[str, Any], phone: Phone, asked: str, told: str
) -> None:
    config["authentication_contexts"].append({"acr": "strongest", "amr": ["pwd", "otp", "mfa"]})
    app.service.reload(config)
    app.client_id, browser = "consenting", app.browser
    page = await browser.submit(await app.login(scope="openid", acr_values=asked), otp=phone.code())
    done = await browser.submit(page, action="allow", scope=["openid"])
    assert claims_in((await app.redeem(done.parameters["code"]))["id_token"])["acr"] == told


async def test_weaker_one_of_several_wishes_is_enough(app: ClientApp, phone: Phone) -> None:
    await app.login(scope="openid")
    page = await app.authorize(scope="openid", acr_values="strong password")
    assert "code" in page.parameters, phone


async def test_wish_is_never_refused(app: ClientApp, phone: Phone) -> None:
    await app.login(scope="openid")
    page = await app.authorize(scope="openid", acr_values="strong", prompt="none")
    assert "code" in page.parameters, phone


async def test_wish_beyond_what_is_demanded_is_never_refused(
    app: ClientApp, config: dict[str, Any], phone: Phone
) -> None:
    config["authentication_contexts"].append({"acr": "key", "amr": ["pwd", "hwk"]})
    app.service.reload(config)
    app.client_id = "consenting"
    page = await app.login(scope="openid", acr_values="key")
    page = await app.browser.submit(page, otp=phone.code())
    done = await app.browser.submit(page, action="allow", scope=["openid"])
    assert "code" in done.parameters


async def test_wish_of_a_person_without_a_factor_goes_on_without(app: ClientApp) -> None:
    assert "code" in (await app.login(scope="openid", acr_values="strong")).parameters


@pytest.mark.usefixtures("phone")
async def test_required_acr_is_refused_under_prompt_none(app: ClientApp) -> None:
    await app.login(scope="openid")
    page = await app.authorize(scope="openid api2", prompt="none")
    assert page.error == "interaction_required"


async def test_person_who_cannot_meet_it_is_refused(app: ClientApp) -> None:
    page = await app.login(scope="openid api2")
    assert page.error == "unmet_authentication_requirements"


async def test_second_factor_does_not_stand_for_the_login_that_is_asked_for(
    app: ClientApp, phone: Phone, browser: Browser
) -> None:
    await app.login(scope="openid")
    login = await app.authorize(scope="openid api2", prompt="login")
    assert login.path == "/account/login"
    request = login.parameters["request"]
    assert (await browser.get(f"{PATH}?request={request}")).path == "/account/login"
    fields = dict(login.forms[0].fields) | {"method": "otp", "otp": phone.code()}
    assert (await browser.post(PATH, fields)).path == "/account/login"


async def test_password_grant_gets_no_token_for_what_needs_more(
    service: RunningService, phone: Phone
) -> None:
    weak = await service.user_token(scope="api2")
    assert weak.refusal == (400, "invalid_grant")
    assert (await service.user_token(scope="api2", otp=phone.code())).status == 200


async def test_delegated_token_needs_what_its_user_has_given(
    service: RunningService, phone: Phone
) -> None:
    weak = (await service.user_token(scope="api1"))["access_token"]
    strong = (await service.user_token(scope="api1", otp=phone.code()))["access_token"]
    for token, refusal in ((weak, (400, "invalid_grant")), (strong, (200, None))):
        answer = await service.token("api1", grant_type="delegation", token=token, scope="api2")
        assert answer.refusal == refusal


async def test_device_gets_no_token_without_what_is_required(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser, scope="openid api2")
    page = await browser.log_in(await tv.enter())
    assert page.has("device-done")
    assert (await tv.poll()).error == "access_denied"


async def test_device_is_allowed_after_the_second_factor(
    service: RunningService, browser: Browser, phone: Phone
) -> None:
    tv = await Television.switch_on(service, browser, scope="openid api2")
    page = await browser.log_in(await tv.enter())
    assert page.path == PATH
    page = await browser.submit(page, otp=phone.code())
    await browser.submit(page, action="allow")
    assert claims_in((await tv.poll())["access_token"])["acr"] == "strong"


async def test_ciba_request_is_not_allowed_without_what_is_required(
    service: RunningService, browser: Browser
) -> None:
    device = Device(service)
    auth_req_id = await device.begin()
    listed = await browser.log_in(await browser.get(REQUESTS))
    (link,) = [one for one in listed.links if f"{REQUESTS}/" in one]
    page = await browser.get(link)
    assert page.has("no-second-factor")
    csrf = dict(page.forms[0].fields)["csrf"]
    session = (await service.features.shared.sessions.find_all_of("818727"))[0].id
    fields = {"csrf": csrf, "session_id": session, "action": "allow"}
    assert (await browser.post(link, fields)).has("no-second-factor")
    assert (await device.poll(auth_req_id)).error == "authorization_pending"


async def test_ciba_request_is_allowed_after_the_second_factor(
    service: RunningService, browser: Browser, phone: Phone
) -> None:
    device = Device(service)
    auth_req_id = await device.begin()
    half = await browser.log_in(await browser.get(REQUESTS))
    assert half.path == PATH
    listed = await browser.submit(half, otp=phone.code())
    (link,) = [one for one in listed.links if f"{REQUESTS}/" in one]
    await browser.submit(await browser.get(link), action="allow")
    tokens = await device.poll(auth_req_id)
    assert claims_in(tokens["id_token"])["acr"] == "strong"


async def test_ciba_request_asks_for_the_password_that_is_required_whatever_is_wished(
    service: RunningService, browser: Browser, clock: Clock
) -> None:
    await use(browser, await browser.get("/account/login"), await enrol(service))
    clock.forward(seconds=5)
    auth_req_id = await Device(service, "counter").begin(acr_values="unheard-of")
    assert (await browser.get(f"{REQUESTS}/{ref_of(auth_req_id)}")).has("login")


async def test_requirement_that_is_added_later_counts_for_refreshes(
    service: RunningService, app: ClientApp
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    registry: Any = service.features.shared.registry
    clients = dict(registry.current.clients)
    clients["web"] = replace(clients["web"], required_acr="strong")
    registry.current = replace(registry.current, clients=clients)
    refused = await app.refresh(tokens["refresh_token"])
    assert refused.refusal == (400, "invalid_grant")
