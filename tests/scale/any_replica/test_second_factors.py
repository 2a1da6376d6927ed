"""A second factor counts once, and wrong ones are counted, for all replicas together (RFC 6238 §5.2, NIST SP 800-63B §5.2.2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable
from contextlib import AsyncExitStack

import pytest

from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.factors.conftest import PATH
from tests.factors.phone import Phone
from tests.factors.test_enrolment import SECURITY, enrol
from tests.scale.any_replica.dice import Dice
from tests.scale.any_replica.registry import FAILURES

AT_ONCE = 6


class People:
    """Browsers that have given the same person's password."""

    def __init__(self, service: RunningService, dice: Dice, username: str) -> None:
        self.service, self.dice, self.username = service, dice, username
        self.stack = AsyncExitStack()

    def browser(self) -> Browser:
        browser = Browser(self.service.issuer, **self.dice.session)
        self.stack.push_async_callback(browser.close)
        return browser

    async def enrol(self) -> Phone:
        browser = self.browser()
        security = await browser.log_in(await browser.get(SECURITY), self.username)
        phone, _ = await enrol(browser, security)
        return phone

    async def half(self) -> tuple[Browser, Page]:
        browser = self.browser()
        page = await ClientApp(self.service, browser).login(self.username)
        assert page.path == PATH
        return browser, page

    async def at_once(self, **fields: str) -> list[Page]:
        """The same form from all of them, each at an address of its own, so that none is locked."""
        sent = list[Awaitable[Page]]()
        for number in range(AT_ONCE):
            browser, page = await self.half()
            form = [*page.forms[0].fields, *fields.items()]
            headers = {"X-Forwarded-For": f"198.51.100.{number}"}
            sent.append(browser.post(PATH, dict(form), headers=headers))
        return await asyncio.gather(*sent)


@pytest.fixture
async def people(service: RunningService, dice: Dice) -> AsyncIterator[People]:
    people = People(service, dice, f"replay-{dice.seed}")
    async with people.stack:
        yield people


async def test_code_and_recovery_code_count_once(people: People) -> None:
    phone = await people.enrol()
    pages = await people.at_once(otp=phone.code(steps_ahead=1))
    assert sum("code" in page.parameters for page in pages) == 1
    used = phone.recovery_codes[0]
    pages = await people.at_once(method="recovery_code", recovery_code=used)
    assert sum(page.has("recovery-codes-left") for page in pages) == 1
    browser, page = await people.half()
    page = await browser.submit(page, method="recovery_code", recovery_code=used)
    assert page.path == PATH


async def test_wrong_codes_lock_at_every_replica(service: RunningService, dice: Dice) -> None:
    people = People(service, dice, f"guess-{dice.seed}")
    async with people.stack:
        phone = await people.enrol()
        halves = [await people.half() for _ in range(FAILURES)]
        wrong = phone.wrong_code()
        for browser, page in halves:
            assert (await browser.submit(page, otp=wrong)).has("login-error")
        for browser, page in halves:
            right = await browser.submit(page, otp=phone.code(steps_ahead=1))
            assert (right.path, right.has("login-error")) == (PATH, True)
            assert "sid" not in browser.cookies
