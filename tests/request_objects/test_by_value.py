"""Request objects by value are verified and merged with the other parameters (OIDC Core §6.1, §6.3)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from service.keys.algorithms import MAC_ALGORITHMS, SIGNING_ALGORITHMS
from tests.driving.service import RunningService, claims_in
from tests.request_objects.sending import Sender

pytestmark = [
    pytest.mark.rfc("openid-core#6.1", "9101#5", "9101#6"),
    pytest.mark.usefixtures("one_store"),  # the request is the same to the store as one by query
]


@pytest.mark.rfc("9101#6.2", "openid-registration#2")
@pytest.mark.parametrize("alg", [*SIGNING_ALGORITHMS, *MAC_ALGORITHMS])
async def test_an_object_is_signed_by_any_advertised_algorithm(web: Sender, alg: str) -> None:
    page = await web.sign_in(await web.signed(alg))
    assert "code" in page.parameters


async def test_the_code_for_an_object_is_redeemed(web: Sender) -> None:
    page = await web.sign_in(await web.signed())
    tokens = await web.app.redeem(page.parameters["code"])
    assert claims_in(tokens["id_token"])["nonce"] == "the-nonce"
    assert page.parameters["state"] == "the-state"


async def test_an_object_may_come_by_post(web: Sender) -> None:
    form = {"client_id": "web", "request": await web.signed()}
    page = await web.app.browser.post("/connect/authorize", form)
    assert "code" in (await web.app.browser.log_in(page)).parameters


@pytest.mark.rfc("9101#10.8")
@pytest.mark.parametrize(
    "typ", ["JWT", "jwt", "oauth-authz-req+jwt", "application/oauth-authz-req+jwt"]
)
async def test_an_object_may_have_the_type_of_request_objects(web: Sender, typ: str) -> None:
    assert (await web.send(await web.signed(typ=typ))).has("login")


@pytest.mark.rfc("openid-core#6.3.3")
async def test_parameters_in_the_object_count_before_those_outside(web: Sender) -> None:
    outside = {"state": "other", "nonce": "other", "redirect_uri": "https://web.example/other"}
    page = await web.sign_in(await web.signed(), **outside)
    assert page.url.startswith(web.app.redirect_uri)
    assert page.parameters["state"] == "the-state"


@pytest.mark.rfc("openid-core#6.3.3")
async def test_parameters_missing_in_the_object_are_taken_from_outside(web: Sender) -> None:
    outside = {"state": "beside", "redirect_uri": web.app.redirect_uri}
    request = await web.signed(state=None, redirect_uri=None, nonce="", scope=None)
    page = await web.sign_in(request, **outside, nonce="beside")
    tokens = await web.app.redeem(page.parameters["code"])
    assert (page.parameters["state"], tokens["scope"]) == ("beside", "openid")
    assert claims_in(tokens["id_token"])["nonce"] == "beside"


@pytest.mark.rfc("9101#5")
async def test_only_client_id_has_to_be_outside_the_object(web: Sender) -> None:
    page = await web.sign_in(await web.signed(), response_type=None, scope=None)
    assert "code" in page.parameters


@pytest.mark.rfc("9101#4")
async def test_a_number_and_an_object_are_written_as_json_has_them(web: Sender) -> None:
    await web.app.login()
    claims = {"id_token": {"email": {"essential": True}}}
    request = await web.signed(max_age=3600, claims=claims)
    tokens = await web.app.redeem((await web.send(request)).parameters["code"])
    assert claims_in(tokens["id_token"])["email"] == "alice@example.com"
    assert "auth_time" in claims_in(tokens["id_token"])


@pytest.mark.rfc("8707#2.1")
async def test_several_resources_are_an_array(web: Sender) -> None:
    request = await web.signed(scope="openid api1 api2", resource=["api1", "api2"])
    tokens = await web.app.redeem((await web.sign_in(request)).parameters["code"])
    assert sorted(claims_in(tokens["access_token"])["aud"]) == ["api1", "api2"]


@pytest.mark.rfc("openid-core#3.1.2.1")
async def test_unknown_claims_of_an_object_are_ignored(web: Sender) -> None:
    request = await web.signed(jti="x", sub="somebody", colour=["blue"], depth={"of": 1}, height=2)
    assert (await web.send(request)).has("login")


@pytest.mark.parametrize(
    "changes",
    [
        {"max_age": "5"},
        {"max_age": 0},
        {"aud": ["https://other.example", "{issuer}"]},
        {"aud": None, "iss": None, "iat": None},
        {"exp": timedelta(minutes=1), "nbf": timedelta(minutes=-1)},
        {"exp": timedelta(days=300)},
        {"exp": timedelta(seconds=-20), "nbf": timedelta(seconds=20)},
        {"client_id": None},
        {"state": None},
    ],
    ids=str,
)
async def test_an_object_with_proper_claims_is_accepted(
    web: Sender, changes: dict[str, Any]
) -> None:
    if isinstance(changes.get("aud"), list):
        changes = {"aud": [one.format(issuer=web.app.service.issuer) for one in changes["aud"]]}
    assert (await web.send(await web.signed(**changes))).has("login")


async def test_a_client_signs_by_the_algorithm_that_it_registered_alone(spa: Sender) -> None:
    assert (await spa.send(await spa.signed("ES384"))).has("login")
    page = await spa.send(await spa.signed("ES256"), redirect_uri=spa.app.redirect_uri)
    assert (page.status, page.error) == (303, "invalid_request_object")


@pytest.mark.rfc("6749#3.1")
@pytest.mark.parametrize("name", ["request", "state", "nonce"])
async def test_a_parameter_that_is_sent_twice_is_not_saved_by_the_object(
    web: Sender, name: str
) -> None:
    url = web.url(request=await web.signed(), redirect_uri=web.app.redirect_uri, state="s")
    page = await web.app.browser.get(f"{url}&nonce=n&{name}=again&{name}=again")
    assert (page.status, page.error) == (303, "invalid_request")


@pytest.mark.rfc("openid-discovery#3", "9101#10.5")
async def test_discovery_lists_request_objects(service: RunningService) -> None:
    told = (await service.get("/.well-known/openid-configuration")).json
    assert told["request_parameter_supported"] is True
    assert told["request_uri_parameter_supported"] is True
    assert told["require_request_uri_registration"] is True
    assert told["require_signed_request_object"] is False
    algorithms = told["request_object_signing_alg_values_supported"]
    assert algorithms == [*SIGNING_ALGORITHMS, *MAC_ALGORITHMS]
