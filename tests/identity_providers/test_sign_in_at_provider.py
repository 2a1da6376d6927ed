"""A person comes from another provider: a second instance of this service (OIDC Core §3.1)."""

from __future__ import annotations

from typing import Any

import pytest

from service.model.events import ProviderSignInSucceeded
from tests.driving.registry import client_in, fresh_configuration
from tests.driving.service import RunningService, claims_in
from tests.identity_providers.conftest import Upstream
from tests.identity_providers.journey import Journey, provider_entry, userinfo


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
    assert {len(asked[name]) for name in ("state", "nonce", "code_challenge")} == {43}
    assert asked["redirect_uri"] == journey.app.service.issuer + "/account/provider/callback"


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_what_the_client_wants_of_the_login_is_passed_on(journey: Journey) -> None:
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


async def test_two_people_from_a_provider_are_two(journey: Journey) -> None:
    alice = claims_in((await journey.tokens())["id_token"])
    for browser in (journey.here, journey.there):
        browser.session.cookie_jar.clear()
    assert claims_in((await journey.tokens("bob"))["id_token"])["sub"] != alice["sub"]


@pytest.mark.rfc("8176#1")
async def test_tokens_say_where_how_and_when_the_person_signed_in(
    journey: Journey, upstream: Upstream
) -> None:
    tokens = await journey.tokens()
    theirs = (await upstream.service.parts.sessions.of_subject("818727"))[0]
    access = claims_in(tokens["access_token"])
    assert (access["idp"], access["amr"]) == ("upstream", ["pwd"])
    assert access["auth_time"] == theirs.auth_time
