"""A client with `profile: fapi2_security` is held to it for every request (FAPI 2.0 Security Profile)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from tests.conftest import Clock, Start
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService, claims_in, header_of
from tests.profiles.held import HeldApp

pytestmark = pytest.mark.rfc("fapi2#5.3.2.1", "fapi2#5.3.2.2")


@pytest.mark.profile("only_codes", "bound_tokens", "algorithms_of_the_service")
async def test_a_whole_flow_works_by_the_defaults_of_the_profile(security: HeldApp) -> None:
    tokens = await security.redeem((await security.answer()).parameters["code"])
    assert (tokens.status, tokens["token_type"]) == (200, "DPoP")
    assert claims_in(tokens["access_token"])["cnf"]["jkt"] == security.key.thumbprint  # type: ignore[union-attr]
    assert header_of(tokens["access_token"])["alg"] == "ES256"
    assert header_of(tokens["id_token"])["alg"] == "ES256"


@pytest.mark.profile("algorithms_of_the_service")
async def test_other_clients_keep_the_first_algorithm(service: RunningService) -> None:
    assert header_of((await service.user_token())["access_token"])["alg"] == "RS256"


@pytest.mark.profile("confidential", "client_authentication")
@pytest.mark.parametrize("path", ["/connect/par", "/connect/token"])
async def test_a_request_without_the_clients_key_is_refused(security: HeldApp, path: str) -> None:
    form: dict[str, Any] = {**security.parameters(), "grant_type": "client_credentials"}
    answer = await security.service.post(path, **form)
    assert answer.refusal == (401, "invalid_client")


@pytest.mark.profile("client_authentication")
async def test_a_secret_is_not_enough(start: Start, config: dict[str, Any]) -> None:
    client = next(one for one in config["clients"] if one["client_id"] == "security")
    client["client_secrets"] = config["clients"][0]["client_secrets"]
    service = await start(config)
    answer = await service.token(("security", "web-secret"), grant_type="client_credentials")
    assert answer.refusal == (401, "invalid_client")


@pytest.mark.rfc("fapi2#5.4.1")
@pytest.mark.profile("algorithms")
@pytest.mark.parametrize("alg", ["PS256", "ES256", "EdDSA"])
async def test_assertions_are_signed_by_the_algorithms_of_the_profile(
    security: HeldApp, alg: str
) -> None:
    assert (await security.push(alg=alg)).status == 201


@pytest.mark.rfc("fapi2#5.4.1")
@pytest.mark.profile("algorithms")
@pytest.mark.parametrize("alg", ["PS256", "EdDSA"])
async def test_proofs_are_signed_by_the_algorithms_of_the_profile(
    security: HeldApp, alg: str
) -> None:
    key = DpopKey.for_algorithm(alg, security.service)
    answer = await security.send(
        "/connect/token", headers=key.header(), grant_type="client_credentials", scope="api2"
    )
    assert answer.status == 200


@pytest.mark.rfc("fapi2#5.4.1")
@pytest.mark.profile("no_rsa1_5")
async def test_nothing_is_encrypted_by_rsa1_5(service: RunningService) -> None:
    discovery = await service.get("/.well-known/openid-configuration")
    assert b"RSA-OAEP" in discovery.body
    assert b"RSA1_5" not in discovery.body


@pytest.mark.rfc("fapi2#5.4.1")
@pytest.mark.profile("algorithms", "explicit_type")
@pytest.mark.parametrize("alg", ["ES256", "PS256"])
async def test_request_objects_have_the_algorithms_and_the_type_of_the_profile(
    security: HeldApp, alg: str
) -> None:
    request = await security.sender.signed(alg, typ="oauth-authz-req+jwt")
    assert (await security.push(request=request)).status == 201


@pytest.mark.profile("short_codes")
async def test_a_code_expires_after_a_minute(security: HeldApp, clock: Clock) -> None:
    code = (await security.answer()).parameters["code"]
    clock.forward(seconds=61)
    assert (await security.redeem(code)).refusal == (400, "invalid_grant")


@pytest.mark.profile("no_rotation")
async def test_a_refresh_token_stays_the_same(security: HeldApp) -> None:
    tokens = await security.redeem((await security.answer()).parameters["code"])
    for _ in range(2):
        refreshed = await security.refresh(tokens["refresh_token"])
        assert refreshed.status == 200
        assert refreshed["refresh_token"] == tokens["refresh_token"]


@pytest.mark.profile("issuer_in_answers")
@pytest.mark.parametrize("action", ["log in", "cancel"])
async def test_every_answer_names_the_issuer(security: HeldApp, action: str) -> None:
    page = await security.follow(await security.push())
    if action == "cancel":
        page = await security.browser.submit(page, action="cancel")
    else:
        page = await security.browser.log_in(page)
    assert page.parameters["iss"] == security.service.issuer


@pytest.mark.profile("objects_alone")
async def test_only_the_members_of_a_pushed_object_count(security: HeldApp) -> None:
    request = await security.sender.signed(typ="oauth-authz-req+jwt", state=None)
    pushed = await security.send("/connect/par", headers={}, request=request, state="outside")
    page = await security.browser.log_in(await security.follow(pushed))
    assert "code" in page.parameters
    assert "state" not in page.parameters


@pytest.mark.profile("clock_skew")
async def test_a_clock_that_differs_by_ten_seconds_is_accepted(security: HeldApp) -> None:
    ahead = timedelta(seconds=10)
    assert (await security.push(claims={"iat": ahead, "nbf": ahead})).status == 201


@pytest.mark.profile("no_token_in_query")
async def test_an_access_token_in_the_query_is_refused(security: HeldApp) -> None:
    tokens = await security.redeem((await security.answer()).parameters["code"])
    path = f"/connect/userinfo?access_token={tokens['access_token']}"
    answer = await security.service.get(path)
    assert answer.status == 401
