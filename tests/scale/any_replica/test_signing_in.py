"""A person signs in, and every page and form of it is another replica's."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

from service.keys.jwe import encrypt
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, claims_in
from tests.identity_providers.fake_provider import FakeProvider
from tests.request_objects.sending import ENC, Sender, find_published_key
from tests.request_objects.site import Site
from tests.scale.any_replica.dice import Dice

AppOf = Callable[[str], ClientApp]


async def test_a_code_with_its_challenge_becomes_tokens(
    app: ClientApp, service: RunningService
) -> None:
    page = await app.browser.log_in(await app.authorize(), password="wrong")
    assert page.has("login-error")
    page = await app.browser.log_in(page)
    tokens = await app.redeem(page.parameters["code"])
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert (await service.get("/connect/userinfo", headers=headers))["sub"] == "818727"


async def test_a_code_is_spent_everywhere_and_its_tokens_end_with_a_replay(
    app: ClientApp, service: RunningService
) -> None:
    code = await app.code()
    tokens = await app.redeem(code)
    assert (await app.redeem(code)).refusal == (400, "invalid_grant")
    assert not await service.is_active(tokens["access_token"])


async def test_consent_is_asked_for_and_remembered(app_of: AppOf) -> None:
    consenting = app_of("consenting")
    page = await consenting.login("bob", prompt="consent")
    page = await consenting.browser.submit(page, action="allow", remember="true")
    assert (await consenting.redeem(page.parameters["code"])).status == 200
    assert "code" in (await consenting.authorize(prompt="none")).parameters


async def test_an_account_is_selected_or_another_one(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(prompt="select_account")
    assert "code" in (await app.browser.submit(page, action="continue")).parameters
    page = await app.authorize(prompt="select_account")
    page = await app.browser.log_in(await app.browser.submit(page, action="other"), "bob")
    assert (await app.redeem(page.parameters["code"])).status == 200


async def test_login_is_requested_again(app: ClientApp) -> None:
    await app.login()
    page = await app.authorize(prompt="login")
    assert page.has("login")
    assert "code" in (await app.browser.log_in(page)).parameters


async def test_a_hybrid_response_is_posted(app_of: AppOf) -> None:
    implicit = app_of("implicit")
    page = await implicit.login(response_type="code id_token token", response_mode="form_post")
    answer = page.parameters
    assert claims_in(answer["id_token"])["nonce"] == "the-nonce"
    assert (await implicit.redeem(answer["code"])).status == 200


async def test_request_object_is_fetched_by_any_replica(
    app: ClientApp, site: Site, dice: Dice
) -> None:
    sender = Sender(app)
    uri = site.publish(await sender.signed(), f"/request-{dice.seed}")
    page = await sender.sign_in(None, request_uri=uri)
    assert (await app.redeem(page.parameters["code"])).status == 200


async def test_a_request_object_comes_by_value(app: ClientApp) -> None:
    sender = Sender(app)
    page = await sender.sign_in(await sender.signed(max_age=60))
    assert "auth_time" in claims_in((await app.redeem(page.parameters["code"]))["id_token"])


async def test_an_encrypted_request_object_is_pushed(
    app: ClientApp, service: RunningService
) -> None:
    key = await find_published_key(service, "ECDH-ES")
    encrypted = encrypt((await Sender(app).signed()).encode(), key, enc=ENC, cty="JWT")
    pushed = (await service.post("/connect/par", auth="web", request=encrypted))["request_uri"]
    query = urlencode({"client_id": "web", "request_uri": pushed})
    page = await app.browser.get(f"{service.issuer}/connect/authorize?{query}")
    page = await app.browser.log_in(page)
    assert (await app.redeem(page.parameters["code"])).status == 200


async def test_a_person_comes_from_an_identity_provider(
    app: ClientApp, provider: FakeProvider
) -> None:
    page = await app.authorize()
    sent = await app.browser.get(page.provider_links["upstream"])
    page = await app.browser.get(provider.answer(sent))
    tokens = await app.redeem(page.parameters["code"])
    assert claims_in(tokens["access_token"])["idp"] == "upstream"


async def test_a_form_of_one_browser_is_refused_from_another(
    app: ClientApp, service: RunningService, dice: Dice
) -> None:
    stranger = Browser(service.issuer, **dice.session)
    page = await stranger.get(app.url())
    foreign = dict(page.forms[0].fields)["csrf"]
    page = await app.browser.log_in(await app.authorize(), csrf=foreign)
    assert (page.status, page.error) == (403, "invalid_request")
    await stranger.close()


async def test_parked_request_waits_for_its_browser(app: ClientApp) -> None:
    pages = [await app.authorize(state=f"state-{number}") for number in range(3)]
    for number in (2, 0, 1):
        page = await app.browser.log_in(pages[number])
        assert page.parameters["state"] == f"state-{number}"
