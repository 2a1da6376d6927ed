"""A device shows a code, its user allows it in a browser, and the device gets tokens (RFC 8628 §3)."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

import pytest

from service.authorize.user_codes import ALPHABET
from tests.conftest import Clock
from tests.device.tv import Television
from tests.driving.browser import Browser
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("8628#3.2", "8628#3.3", "8628#3.5")


async def test_the_response_has_a_code_for_the_device_and_one_for_its_user(
    service: RunningService, tv: Television
) -> None:
    codes = tv.codes
    half = f"[{ALPHABET}]{{4}}"
    assert re.fullmatch(f"{half}-{half}", codes["user_code"])
    assert codes["verification_uri"] == f"{service.issuer}/device"
    complete = f"{service.issuer}/device?user_code={codes['user_code']}"
    assert codes["verification_uri_complete"] == complete
    assert (codes["expires_in"], codes["interval"]) == (600, 5)
    assert codes.headers["Cache-Control"] == "no-store"


async def test_a_device_gets_tokens_once_its_user_has_allowed_it(tv: Television) -> None:
    assert (await tv.poll()).refusal == (400, "authorization_pending")
    page = await tv.decide()
    assert "will continue shortly" in page.text_of("device-done")
    tokens = await tv.poll()
    assert tokens.status == 200
    assert tokens["scope"] == "api1 openid"
    identity = claims_in(tokens["id_token"])
    assert (identity["sub"], identity["aud"], identity["amr"]) == ("818727", "tv", ["pwd"])
    assert await tv.service.is_active(tokens["access_token"])


async def test_a_device_keeps_its_access_by_refresh_tokens(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser, "box", scope="api1 offline_access")
    await tv.decide()
    refresh_token = (await tv.poll())["refresh_token"]
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    assert (await service.token("box", **form)).status == 200


async def test_a_user_who_refuses_is_told_so_and_so_is_the_device(tv: Television) -> None:
    page = await tv.decide("deny")
    assert "given access" in page.text_of("device-done")
    assert [(await tv.poll()).refusal for _ in range(2)] == 2 * [(400, "access_denied")]


async def test_a_user_who_cancels_the_login_refuses_the_device(tv: Television) -> None:
    page = await tv.enter()
    page = await tv.browser.submit(page, action="cancel", username="", password="")
    assert page.has("device-done")
    assert (await tv.poll()).error == "access_denied"


async def test_a_code_is_read_without_regard_to_case_spaces_and_hyphens(tv: Television) -> None:
    code = tv.codes["user_code"].lower()
    page = await tv.enter(f" {code[:2]} {code[2:4]} {code[5:]} ")
    assert page.has("login")


@pytest.mark.rfc("8628#3.3.1")
async def test_link_with_the_user_code_leads_to_the_confirmation_with_the_code(
    tv: Television,
) -> None:
    page = await tv.browser.get(tv.codes["verification_uri_complete"])
    page = await tv.browser.log_in(page)
    assert page.text_of("device-code") == tv.codes["user_code"]
    assert "Living room" in page.text
    assert 'data-scope="api1"' in page.text
    page = await tv.browser.submit(page, action="allow")
    assert (await tv.poll()).status == 200


async def test_a_user_with_a_session_is_asked_at_once(tv: Television) -> None:
    await tv.decide()
    other = await Television.switch_on(tv.service, tv.browser)
    assert (await other.enter()).has("device-allow")


async def test_a_request_of_a_device_is_continued_at_its_own_page_alone(tv: Television) -> None:
    asked = await tv.confirmation()
    request = asked.parameters["request"]
    page = await tv.browser.get(f"/account/continue?request={request}")
    assert (page.status, page.path) == (asked.status, asked.path)
    assert (await tv.poll()).refusal == (400, "authorization_pending")


async def test_the_end_is_shown_again_when_the_page_is_loaded_again(tv: Television) -> None:
    done = await tv.decide()
    assert urlsplit(done.url).path == "/device"
    assert (await tv.browser.get(done.url)).text_of("device-done") == done.text_of("device-done")


async def test_a_form_that_is_sent_twice_changes_nothing(tv: Television) -> None:
    page = await tv.confirmation()
    await tv.browser.submit(page, action="allow")
    assert (await tv.browser.submit(page, action="deny")).has("device-done")
    assert (await tv.poll()).status == 200


async def test_a_form_of_another_user_asks_the_one_who_is_signed_in(tv: Television) -> None:
    page = await tv.confirmation("alice")
    login = await tv.browser.get(f"/account/login?request={dict(page.forms[0].fields)['request']}")
    await tv.browser.log_in(login, "bob")
    assert (await tv.browser.submit(page, action="allow")).has("device-allow")
    assert (await tv.poll()).error == "authorization_pending"


async def test_a_form_without_its_anti_forgery_value_is_refused(tv: Television) -> None:
    page = await tv.confirmation()
    assert (await tv.browser.submit(page, action="allow", csrf="forged")).status == 403
    page = await tv.browser.get("/device")
    sent = await tv.browser.submit(page, csrf=None, user_code=tv.codes["user_code"])
    assert sent.status == 403
    assert (await tv.poll()).error == "authorization_pending"


async def test_a_code_that_expires_while_the_user_reads_grants_nothing(
    tv: Television, clock: Clock
) -> None:
    page = await tv.confirmation()
    clock.forward(seconds=601)
    page = await tv.browser.submit(page, action="allow")
    assert page.has("device-error")
    assert (await tv.poll()).error == "expired_token"


async def test_the_users_grant_is_on_the_account_page_and_can_be_revoked(tv: Television) -> None:
    await tv.decide()
    tokens = await tv.poll()
    account = await tv.browser.get("/account")
    assert "Living room" in account.text
    forms = [form for form in account.forms if ("client_id", "tv") in form.fields]
    await tv.browser.submit(account, account.forms.index(forms[0]), action="revoke")
    assert not await tv.service.is_active(tokens["access_token"])


async def test_an_approval_that_is_revoked_before_the_next_poll_grants_nothing(
    tv: Television,
) -> None:
    await tv.decide()
    account = await tv.browser.get("/account")
    forms = [form for form in account.forms if ("client_id", "tv") in form.fields]
    await tv.browser.submit(account, account.forms.index(forms[0]), action="revoke")
    assert (await tv.poll()).refusal == (400, "invalid_grant")


async def test_the_pages_are_in_the_users_language(tv: Television) -> None:
    page = await tv.browser.get("/device", headers={"Accept-Language": "de"})
    assert page.lang == "de"
    assert page.has("user_code")
    assert "Gerät" in page.text
