"""A person comes from another provider: a second instance of this service (OIDC Core §3.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.events.providers import ProviderSignInSucceeded
from service.keys.schedule import LEAD
from service.keys.stored_keys import StoredKeys
from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import claims_in
from tests.identity_providers.conftest import Upstream
from tests.identity_providers.journey import Journey, arrived, provider_entry, userinfo


@pytest.fixture
def config(upstream: Upstream) -> dict[str, Any]:
    configuration = fresh_configuration()
    configuration["identity_providers"] = [
        provider_entry(upstream.issuer, claims={"given_name": "nickname", "sub": "idp"}),
        provider_entry("https://elsewhere.example", name="elsewhere", display_name="Elsewhere"),
    ]
    client_in(configuration, "consenting")["identity_provider_restrictions"] = ["elsewhere"]
    client_in(configuration, "implicit")["enable_local_login"] = False
    return configuration


@pytest.mark.rfc("openid-core#3.1.3")
async def test_a_person_comes_from_a_provider_by_a_link(journey: Journey) -> None:
    tokens = await journey.tokens(scope="openid profile email api1")
    assert tokens.status == 200
    told = await userinfo(journey.app.service, tokens)
    assert (told["name"], told["email"]) == ("Alice Smith", "alice@example.com")


async def test_acr_values_lead_straight_to_the_provider(
    journey: Journey, upstream: Upstream
) -> None:
    sent = await journey.straight_away()
    assert sent.url.startswith(upstream.issuer + "/connect/authorize?")
    back = await journey.here.get(await journey.signed_in_there(sent))
    assert back.parameters["state"] == "the-state"


@pytest.mark.rfc("7636#4.3", "openid-core#3.1.2.1")
async def test_the_request_asks_for_a_code_bound_to_it(journey: Journey) -> None:
    asked = (await journey.straight_away()).parameters
    assert (asked["response_type"], asked["code_challenge_method"]) == ("code", "S256")
    random = (asked["state"].partition(".")[0], asked["nonce"], asked["code_challenge"])
    assert {len(value) for value in random} == {43}
    assert asked["redirect_uri"] == journey.app.service.issuer + "/account/provider/callback"


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_wishes_of_the_client_are_passed_on_to_the_provider(journey: Journey) -> None:
    wanted = {"prompt": "login", "max_age": "60", "login_hint": "alice@x", "ui_locales": "de fr"}
    asked = (await journey.straight_away(**wanted)).parameters
    assert wanted.items() <= asked.items()


@pytest.mark.rfc("openid-core#5.7")
async def test_a_person_from_a_provider_has_a_stable_subject_of_our_own(
    journey: Journey, events: list[object]
) -> None:
    first = claims_in((await journey.tokens())["id_token"])["sub"]
    journey.here.session.cookie_jar.clear()
    assert claims_in((await journey.tokens())["id_token"])["sub"] == first != "818727"
    succeeded = ProviderSignInSucceeded(provider="upstream", subject=first, amr=("pwd",))
    assert events.count(succeeded) == 2


async def test_two_users_of_a_provider_have_two_subjects(journey: Journey) -> None:
    alice = claims_in((await journey.tokens())["id_token"])
    for browser in (journey.here, journey.there):
        browser.session.cookie_jar.clear()
    assert claims_in((await journey.tokens("bob"))["id_token"])["sub"] != alice["sub"]


@pytest.mark.rfc("8176#1")
async def test_tokens_carry_idp_amr_and_auth_time_of_the_sign_in(
    journey: Journey, upstream: Upstream
) -> None:
    tokens = await journey.tokens()
    theirs = (await upstream.service.features.shared.sessions.find_all_of("818727"))[0]
    access = claims_in(tokens["access_token"])
    assert (access["idp"], access["amr"]) == ("upstream", ["external"])
    assert access["auth_time"] == theirs.auth_time


async def test_claims_get_our_names_and_never_those_of_the_protocol(journey: Journey) -> None:
    tokens = await journey.tokens(scope="openid profile api1")
    assert (await userinfo(journey.app.service, tokens))["nickname"] == "Alice"
    assert claims_in(tokens["access_token"])["idp"] == "upstream"


async def test_an_api_learns_claims_that_came_from_the_provider(journey: Journey) -> None:
    token = (await journey.tokens())["access_token"]
    introspected = await journey.app.service.introspect(token)
    assert (introspected["active"], introspected["email"]) == (True, "alice@example.com")


@pytest.mark.rfc("openid-core#12")
async def test_a_refresh_goes_on_without_the_provider(journey: Journey) -> None:
    tokens = await journey.tokens(scope="openid email offline_access")
    refreshed = await journey.app.refresh(tokens["refresh_token"])
    assert (await userinfo(journey.app.service, refreshed))["email"] == "alice@example.com"


async def test_tokens_of_users_of_a_removed_provider_are_inactive(
    journey: Journey, config: dict[str, Any]
) -> None:
    app, tokens = journey.app, await journey.tokens(scope="openid api1 offline_access")
    app.service.reload(config | {"identity_providers": config["identity_providers"][1:]})
    assert not await app.service.is_active(tokens["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")
    assert (await app.authorize()).path == "/account/login"


async def test_a_refresh_token_ends_when_its_client_no_longer_takes_people_of_the_provider(
    journey: Journey, config: dict[str, Any]
) -> None:
    app, tokens = journey.app, await journey.tokens(scope="openid api1 offline_access")
    client_in(config, "web")["identity_provider_restrictions"] = ["elsewhere"]
    app.service.reload(config)
    assert not await app.service.is_active(tokens["access_token"])
    assert (await app.refresh(tokens["refresh_token"])).refusal == (400, "invalid_grant")


async def test_the_session_serves_the_next_request(journey: Journey) -> None:
    await journey.and_back()
    assert arrived(await journey.app.authorize())
    assert arrived(await journey.straight_away())


async def test_a_local_session_is_not_one_of_the_provider(
    journey: Journey, upstream: Upstream
) -> None:
    await journey.app.login()
    assert (await journey.straight_away()).url.startswith(upstream.issuer)


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_prompt_login_asks_again_at_the_provider(journey: Journey) -> None:
    await journey.and_back()
    sent = await journey.straight_away(prompt="login")
    assert (await journey.there.get(sent.url)).has("login")
    assert arrived(await journey.here.get(await journey.signed_in_there(sent)))


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_prompt_none_never_leads_to_the_provider(journey: Journey) -> None:
    assert (await journey.straight_away(prompt="none")).error == "login_required"


async def test_a_person_without_a_client_comes_to_the_own_account(journey: Journey) -> None:
    login = await journey.here.get("/account/login")
    sent = await journey.here.get(login.provider_links["upstream"])
    assert (await journey.here.get(await journey.signed_in_there(sent))).path == "/account"


@pytest.mark.rfc("openid-core#3.1.2.6")
async def test_user_who_cancels_at_the_provider_sees_the_login_page(journey: Journey) -> None:
    asked = await journey.there.get((await journey.straight_away()).url)
    refused = await journey.there.submit(asked, action="cancel")
    login = await journey.here.get(refused.url)
    assert login.text_of("login-error").startswith("Upstream did not sign you in")
    assert arrived(await journey.here.log_in(login))


async def test_a_client_is_offered_only_its_own_providers(
    journey: Journey, app_of: Callable[[str], ClientApp]
) -> None:
    login = await app_of("consenting").authorize(acr_values="idp:upstream")
    assert list(login.provider_links) == ["elsewhere"]
    forced = login.provider_links["elsewhere"].replace("idp=elsewhere", "idp=upstream")
    refused = await journey.here.get(forced)
    assert (refused.status, refused.error) == (400, "invalid_request")


async def test_client_without_local_login_offers_only_providers(
    app: ClientApp, app_of: Callable[[str], ClientApp]
) -> None:
    await app.login()
    page = await app_of("implicit").authorize()
    assert not page.has("username")
    assert list(page.provider_links) == ["upstream", "elsewhere"]


@pytest.mark.parametrize("query", ["", "?idp=", "?idp=nobody", "?idp=../x", "?idp=upstream&idp=x"])
async def test_an_unknown_provider_is_an_error_page(journey: Journey, query: str) -> None:
    page = await journey.here.get(f"/account/provider{query}")
    assert (page.status, page.error) == (400, "invalid_request")


async def test_a_request_that_waits_no_longer_is_an_error_page(journey: Journey) -> None:
    page = await journey.here.get("/account/provider?idp=upstream&request=unknown")
    assert (page.status, page.error) == (400, "invalid_request")


@pytest.mark.rfc("openid-core#10.1.1")
async def test_the_provider_may_change_its_key(
    journey: Journey, upstream: Upstream, clock: Clock
) -> None:
    await journey.and_back()
    before = upstream.service.features.ring.signing_key().kid
    source = upstream.service.features.key_source
    assert isinstance(source, StoredKeys)
    await source.rotate(at_once=True)
    clock.forward(seconds=LEAD + 1)
    await source.refresh()
    assert upstream.service.features.ring.signing_key().kid != before
    assert arrived(await journey.and_back(prompt="login"))
