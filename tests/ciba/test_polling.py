"""A client polls until the user has answered, and gets its tokens once (CIBA Core §10.1, §11)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from tests.ciba.consumption import Device, answer, open_request
from tests.conftest import Clock, Start
from tests.driving.browser import Browser
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("ciba#10.1", "ciba#11")


async def test_nothing_is_granted_before_the_user_has_answered(till: Device) -> None:
    assert (await till.poll(await till.begin())).refusal == (400, "authorization_pending")


async def test_the_user_allows_it_and_the_client_gets_tokens(
    till: Device, browser: Browser, service: RunningService
) -> None:
    auth_req_id = await till.begin(scope="openid api1 offline_access", acr_values="password")
    await answer(browser, auth_req_id)
    tokens = await till.poll(auth_req_id)
    assert (tokens.status, tokens["token_type"]) == (200, "Bearer")
    claims = claims_in(tokens["id_token"])
    assert (claims["sub"], claims["aud"], claims["acr"]) == ("818727", "till", "password")
    assert claims["amr"] == ["pwd"]
    assert "urn:openid:params:jwt:claim:auth_req_id" not in claims  # of push alone (§10.3.1)
    assert await service.is_active(tokens["access_token"])
    refreshed = await service.token(
        till.auth, grant_type="refresh_token", refresh_token=tokens["refresh_token"]
    )
    assert refreshed["scope"] == "api1 offline_access openid"


async def test_an_auth_req_id_that_is_too_long_is_an_invalid_request(till: Device) -> None:
    assert (await till.poll("x" * 257)).refusal == (400, "invalid_request")


async def test_the_user_denies_it(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin()
    await answer(browser, auth_req_id, "deny")
    for _ in range(2):
        assert (await till.poll(auth_req_id)).refusal == (400, "access_denied")


@pytest.mark.rfc("ciba#11")
async def test_a_second_use_is_refused_and_revokes_nothing(
    till: Device, browser: Browser, service: RunningService
) -> None:
    auth_req_id = await till.begin()
    await answer(browser, auth_req_id)
    tokens = await till.poll(auth_req_id)
    for _ in range(2):
        assert (await till.poll(auth_req_id)).refusal == (400, "invalid_grant")
    assert await service.is_active(tokens["access_token"])


async def test_of_racing_polls_one_gets_tokens(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin()
    await answer(browser, auth_req_id)
    answers = await asyncio.gather(*[till.poll(auth_req_id) for _ in range(20)])
    assert sorted(answer.status for answer in answers) == [200, *[400] * 19]
    assert {answer.error for answer in answers} == {None, "invalid_grant"}


async def test_of_racing_answers_the_first_counts(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin()
    page = await open_request(browser, auth_req_id)
    pages = await asyncio.gather(
        *[browser.submit(page, action=action) for action in ("allow", "deny") * 5]
    )
    assert [page.status for page in pages].count(200) == 1
    decided = await till.poll(auth_req_id)
    assert (decided.status, decided.error) in {(200, None), (400, "access_denied")}


async def test_a_client_that_polls_too_often_has_to_slow_down(till: Device, clock: Clock) -> None:
    auth_req_id = await till.begin()
    assert (await till.poll(auth_req_id)).error == "authorization_pending"
    assert (await till.poll(auth_req_id)).refusal == (400, "slow_down")
    clock.forward(seconds=6)
    assert (await till.poll(auth_req_id)).error == "slow_down"
    clock.forward(seconds=16)
    assert (await till.poll(auth_req_id)).error == "authorization_pending"


async def test_a_client_that_polls_twice_in_a_second_has_to_slow_down_whatever_the_interval(
    start: Start, config: dict[str, Any]
) -> None:
    config["ciba"] = {"interval": "1s"}
    till = Device(await start(config))
    auth_req_id = await till.begin()
    answers = await asyncio.gather(*[till.poll(auth_req_id) for _ in range(10)])
    assert {one.error for one in answers} == {"authorization_pending", "slow_down"}


async def test_a_client_that_waits_for_an_interval_of_a_second_need_not_slow_down(
    start: Start, config: dict[str, Any], clock: Clock
) -> None:
    config["ciba"] = {"interval": "1s"}
    till = Device(await start(config))
    auth_req_id = await till.begin()
    for _ in range(3):
        assert (await till.poll(auth_req_id)).error == "authorization_pending"
        clock.forward(seconds=1)


async def test_an_expired_request_says_so_and_is_forgotten(
    till: Device, browser: Browser, clock: Clock
) -> None:
    auth_req_id = await till.begin(requested_expiry="30")
    clock.forward(seconds=31)
    assert (await till.poll(auth_req_id)).refusal == (400, "expired_token")
    assert (await open_request(browser, auth_req_id)).status == 400
    clock.forward(minutes=10)
    assert (await till.poll(auth_req_id)).refusal == (400, "invalid_grant")


async def test_another_client_gets_nothing_and_changes_nothing(
    till: Device, device_of: Callable[[str], Device], browser: Browser
) -> None:
    auth_req_id = await till.begin()
    other = device_of("other-till")
    refused = await other.poll(auth_req_id)
    assert refused.refusal == (400, "invalid_grant")
    assert refused["error_description"] == "the auth_req_id was issued to another client"
    await answer(browser, auth_req_id)
    assert (await other.poll(auth_req_id)).refusal == (400, "invalid_grant")
    assert (await till.poll(auth_req_id)).status == 200


@pytest.mark.parametrize(
    ("auth_req_id", "error"),
    [("", "invalid_request"), ("unknown", "invalid_grant"), ("ar_" + "x" * 65, "invalid_grant")],
)
async def test_a_malformed_id_is_refused(till: Device, auth_req_id: str, error: str) -> None:
    assert (await till.poll(auth_req_id)).refusal == (400, error)


async def test_a_client_without_the_grant_type_is_unauthorized(
    till: Device, device_of: Callable[[str], Device]
) -> None:
    auth_req_id = await till.begin()
    assert (await device_of("web").poll(auth_req_id)).refusal == (400, "unauthorized_client")


async def test_signing_out_ends_the_tokens_that_are_not_offline(
    till: Device, browser: Browser, service: RunningService
) -> None:
    auth_req_id = await till.begin()
    await answer(browser, auth_req_id)
    tokens = await till.poll(auth_req_id)
    page = await browser.get("/connect/endsession")
    await browser.submit(page, action="logout")
    assert not await service.is_active(tokens["access_token"])


async def test_what_was_revoked_before_the_poll_is_not_issued(
    till: Device, browser: Browser
) -> None:
    auth_req_id = await till.begin()
    await answer(browser, auth_req_id)
    account = await browser.get("/account")
    form = next(i for i, one in enumerate(account.forms) if ("client_id", "till") in one.fields)
    await browser.submit(account, form, action="revoke")
    assert (await till.poll(auth_req_id)).refusal == (400, "invalid_grant")
