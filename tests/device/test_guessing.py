"""User codes are short, so guessing them is throttled: by browser, by address and for everybody (RFC 8628 §5.1)."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from service.events.authorizations import UserCodeRefused
from tests.conftest import Clock
from tests.device.tv import Television
from tests.driving.browser import Browser, Page
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("8628#5.1")

WRONG = "BBBB-BBBB"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["server"] = {"trusted_proxies": ["127.0.0.0/8", "::1/128"]}
    config["limits"] = {"device_codes_per_minute": 12}
    return config


async def guess(browser: Browser, code: str, address: str = "192.0.2.1") -> Page:
    headers = {"X-Forwarded-For": address}
    return await browser.get(f"/device?user_code={code}", headers=headers)


async def statuses(browser: Browser, address: str, count: int) -> list[int]:
    return [(await guess(browser, WRONG, address)).status for _ in range(count)]


async def test_a_wrong_code_is_asked_for_again(tv: Television) -> None:
    for code in (WRONG, "short", "<script>", "ÄÖÜÄ-ÖÜÄÖ"):
        page = await tv.enter(code)
        assert (page.status, page.has("device-error"), page.has("user_code")) == (200, True, True)
        assert "<script>" not in page.text
    assert sum(isinstance(one, UserCodeRefused) for one in tv.service.events) == 4


@pytest.mark.parametrize(
    ("typed", "kept"),
    [("bcdf-ghj", "bcdf-ghj"), ('"><b>', '"><b>'), ("x" * 99, "x" * 40)],
    ids=["a letter too few", "markup", "too long"],
)
async def test_what_cannot_be_a_code_is_kept_in_the_field(
    tv: Television, typed: str, kept: str
) -> None:
    assert (await tv.enter(typed)).element("user_code")["value"] == kept


async def test_the_sixth_wrong_code_in_a_browser_is_refused_and_so_is_a_right_one(
    tv: Television,
) -> None:
    assert await statuses(tv.browser, "192.0.2.1", 6) == [200] * 5 + [429]
    refused = await guess(tv.browser, tv.codes["user_code"], "192.0.2.2")
    assert refused.text_of("error") == "temporarily_unavailable"
    assert int(refused.headers["Retry-After"]) == 600


async def test_page_after_too_many_wrong_codes_says_how_long_to_wait(tv: Television) -> None:
    await statuses(tv.browser, "192.0.2.1", 5)
    refused = await guess(tv.browser, WRONG)
    assert "Too many wrong codes. Try again in 10 minutes." in refused.text
    assert refused.element("start-again")["href"] == "/device"


async def test_an_address_has_ten_attempts_in_however_many_browsers(
    tv: Television, clock: Clock
) -> None:
    answers: list[int] = []
    for _ in range(3):
        tv.browser.forget_cookies()
        answers += await statuses(tv.browser, "192.0.2.1", 4)
    assert answers == [200] * 10 + [429] * 2
    tv.browser.forget_cookies()
    clock.forward(seconds=601)
    assert (await guess(tv.browser, WRONG)).status == 200


async def test_an_address_that_is_refused_leaves_no_keys(tv: Television) -> None:
    for refused in range(10 + 20):
        tv.browser.forget_cookies()
        assert (await guess(tv.browser, WRONG)).status == (200 if refused < 10 else 429)
    kv = tv.service.features.shared.kv
    assert len([key async for key in kv.find_keys("ts:*:rl")]) < 20


@pytest.mark.usefixtures("fresh_minute")
async def test_everybody_together_has_so_many_attempts_in_a_minute(
    tv: Television, clock: Clock
) -> None:
    answers: list[int] = []
    for network in range(7):
        tv.browser.forget_cookies()
        answers += await statuses(tv.browser, f"198.51.100.{network}", 2)
    assert answers == [200] * 12 + [429] * 2
    clock.forward(seconds=60)
    tv.browser.forget_cookies()
    assert (await guess(tv.browser, WRONG, "203.0.113.1")).status == 200


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
async def test_links_of_other_pages_use_up_no_attempt_and_tell_nothing(
    tv: Television, site: str
) -> None:
    headers = {"X-Forwarded-For": "192.0.2.1", "Sec-Fetch-Site": site}
    codes = [*[WRONG] * 12, tv.codes["user_code"]]
    pages = [await tv.browser.get(f"/device?user_code={code}", headers=headers) for code in codes]
    assert [page.element("user_code")["value"] for page in pages] == codes
    assert not any(page.has("device-error") or page.has("login") for page in pages)
    assert (await tv.browser.submit(pages[-1])).has("login")


async def test_a_link_that_the_user_opened_leads_on(tv: Television) -> None:
    headers = {"X-Forwarded-For": "192.0.2.1", "Sec-Fetch-Site": "none"}
    page = await tv.browser.get(f"/device?user_code={tv.codes['user_code']}", headers=headers)
    assert page.has("login")


@pytest.mark.usefixtures("fresh_minute")
async def test_networks_of_one_ipv6_site_do_not_have_the_attempts_of_many(tv: Television) -> None:
    answers: list[int] = []
    for network in range(45):
        tv.browser.forget_cookies()
        answers.append((await guess(tv.browser, WRONG, f"2001:db8:1:{network:x}::1")).status)
    assert answers.count(200) == 12  # device_codes_per_minute of this module, before the site's 40


async def test_right_codes_count_for_nothing(service: RunningService, browser: Browser) -> None:
    for _ in range(7):
        tv = await Television.switch_on(service, browser)
        assert (await guess(browser, tv.codes["user_code"])).has("login")


async def test_many_guesses_at_once_are_counted_each(tv: Television) -> None:
    await tv.browser.get("/device")
    pages = await asyncio.gather(*[guess(tv.browser, WRONG) for _ in range(30)])
    assert Counter(page.status for page in pages) == {200: 5, 429: 25}
