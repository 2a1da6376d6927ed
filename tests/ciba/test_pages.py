"""The user answers at /account/requests, as the one whom the client named (CIBA Core §8)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.ciba.consumption import REQUESTS, Device, answer, open_request, ref_of
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("ciba#8")


async def test_the_page_asks_for_the_login_and_comes_back(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin(binding_message="W4SCT")
    page = await browser.get(f"{REQUESTS}/{ref_of(auth_req_id)}")
    assert page.path == "/account/login"
    page = await browser.log_in(page)
    assert page.path == f"{REQUESTS}/{ref_of(auth_req_id)}"
    assert page.text_of("binding-message") == "W4SCT"
    assert "Till 7" in page.text
    assert "API 1" in page.text or "api1" in page.text


async def test_a_wrong_password_does_not_lose_the_way_back(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin()
    page = await browser.get(f"{REQUESTS}/{ref_of(auth_req_id)}")
    page = await browser.log_in(page, password="wrong")
    assert (await browser.log_in(page)).has("request-allow")


@pytest.mark.parametrize(
    "path", ["https://evil.example", "//evil.example", "/connect/endsession", REQUESTS + "/../x"]
)
async def test_a_login_leads_to_no_other_page(browser: Browser, path: str) -> None:
    page = await browser.get("/account/login", params={"return_to": path})
    assert (await browser.log_in(page)).path == "/account"


async def test_the_list_shows_what_waits(till: Device, browser: Browser) -> None:
    first, second = await till.begin(binding_message="one"), await till.begin(binding_message="two")
    page = await browser.log_in(await browser.get(REQUESTS))
    assert ref_of(first) in page.text
    page = await answer(browser, first)
    assert page.path == REQUESTS
    assert page.has("request-done")
    assert ref_of(first) not in page.text
    assert ref_of(second) in page.text


@pytest.mark.parametrize("action", ["allow", "deny"])
async def test_the_list_says_what_was_answered_and_nothing_that_only_a_link_says(
    till: Device, browser: Browser, action: str
) -> None:
    answered, waiting = await till.begin(), await till.begin()
    told = (await answer(browser, answered, action)).text_of("request-done")
    assert ("approved" in told, "denied" in told) == (action == "allow", action == "deny")
    for said in ["allowed", "denied", "", "x" * 16, ref_of(waiting)]:
        page = await browser.get(REQUESTS, params={"answered": said})
        assert not page.has("request-done"), said
    page = await browser.log_in(await browser.get("/account/login"), "bob")
    page = await browser.get(REQUESTS, params={"answered": ref_of(answered)})
    assert (page.status, page.has("request-done")) == (200, False)


async def test_another_user_sees_nothing_of_it(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin(binding_message="W4SCT")
    page = await open_request(browser, auth_req_id, "bob")
    assert (page.status, page.error) == (400, "invalid_request")
    assert "W4SCT" not in page.text
    assert "W4SCT" not in (await browser.get(REQUESTS)).text


async def test_another_user_cannot_answer_it(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin()
    page = await open_request(browser, auth_req_id)
    await browser.log_in(await browser.get("/account/login"), "bob")
    late = await browser.submit(page, action="allow")
    assert (late.status, late.error) == (400, "invalid_request")
    assert (await till.poll(auth_req_id)).error == "authorization_pending"


async def test_a_forged_form_changes_nothing(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin()
    page = await open_request(browser, auth_req_id)
    assert (await browser.submit(page, action="allow", csrf="forged")).status == 403
    assert (await browser.submit(page, action="perhaps")).status == 400
    assert (await till.poll(auth_req_id)).error == "authorization_pending"


async def test_an_answered_request_cannot_be_answered_again(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin()
    page = await open_request(browser, auth_req_id)
    await browser.submit(page, action="deny")
    assert (await browser.submit(page, action="allow")).status == 400
    assert (await open_request(browser, auth_req_id)).status == 400
    assert (await till.poll(auth_req_id)).error == "access_denied"


@pytest.mark.parametrize("ref", ["unknown", "x" * 16, "%C3%A4"])
async def test_an_unknown_request_is_an_error_page(browser: Browser, ref: str) -> None:
    await browser.log_in(await browser.get("/account/login"))
    page = await browser.get(f"{REQUESTS}/{ref}")
    assert (page.status, page.error) == (400, "invalid_request")


async def test_an_old_login_is_not_enough_for_a_client_that_says_so(
    device_of: Callable[[str], Device], browser: Browser, clock: Clock
) -> None:
    await browser.log_in(await browser.get("/account/login"))
    clock.forward(minutes=2)
    device = device_of("strict")
    auth_req_id = await device.begin()
    page = await browser.get(f"{REQUESTS}/{ref_of(auth_req_id)}")
    assert page.has("login")
    page = await browser.log_in(page)
    clock.forward(seconds=70)
    await browser.submit(page, action="allow")
    assert (await device.poll(auth_req_id)).status == 200


async def test_acr_values_that_a_login_cannot_meet_are_not_claimed(
    till: Device, browser: Browser
) -> None:
    auth_req_id = await till.begin(acr_values="strong")
    await answer(browser, auth_req_id)
    assert "acr" not in claims_in((await till.poll(auth_req_id))["id_token"])


async def test_the_pages_speak_the_users_language(till: Device, browser: Browser) -> None:
    auth_req_id = await till.begin()
    await open_request(browser, auth_req_id)
    page = await browser.get(f"{REQUESTS}/{ref_of(auth_req_id)}?language=de")
    assert page.lang == "de"
    assert "bittet um Zugriff" in page.text or "Zugriff" in page.text


async def test_a_link_in_another_language_keeps_the_way_back(
    till: Device, browser: Browser
) -> None:
    auth_req_id = await till.begin()
    page = await browser.get(f"{REQUESTS}/{ref_of(auth_req_id)}")
    assert f"return_to=%2Faccount%2Frequests%2F{ref_of(auth_req_id)}" in page.text


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["authorization_details_types"] = [
        {"type": "payment", "api_resource": "api1", "summary": "Pay {amount}"}
    ]
    for client in config["clients"]:
        if client["client_id"] == "till":
            client["authorization_details_types"] = ["payment"]
    return config


@pytest.mark.rfc("9396#12")
async def test_authorization_details_are_shown_and_granted(till: Device, browser: Browser) -> None:
    details = '[{"type":"payment","amount":"30 EUR"}]'
    auth_req_id = await till.begin(authorization_details=details)
    page = await open_request(browser, auth_req_id)
    assert "Pay 30 EUR" in page.text
    await browser.submit(page, action="allow")
    tokens = await till.poll(auth_req_id)
    assert tokens["authorization_details"] == [{"type": "payment", "amount": "30 EUR"}]


@pytest.mark.parametrize("ref", ["%0D%0AX-Odd:%20a", "%20", "%C3%A4", "%3Fa=b"])
async def test_a_form_without_a_session_leads_to_the_path_as_it_was_sent(
    service: RunningService, browser: Browser, ref: str
) -> None:
    page, path = await browser.get("/account/login"), f"{REQUESTS}/{ref}"
    csrf = dict(page.forms[0].fields)["csrf"]
    answer = await service.post(path, headers={"Cookie": browser.cookie_header}, csrf=csrf)
    assert (answer.status, answer.headers.get("Location")) == (303, path)
