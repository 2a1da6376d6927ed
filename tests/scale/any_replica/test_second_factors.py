"""A second factor counts once, and wrong ones are counted, for all replicas and ways together (RFC 6238 §5.2, NIST SP 800-63B §5.2.2)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta

import pytest

from tests.ciba.consumption import NOTIFICATION_TOKEN, Device, open_request
from tests.device.tv import Television
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.factors.conftest import PATH
from tests.factors.phone import Phone
from tests.factors.test_enrolment import SECURITY, enrol
from tests.identity_providers.fake_provider import FakeProvider
from tests.scale.any_replica.dice import Dice
from tests.scale.any_replica.registry import FAILURES, WAYS

AT_ONCE = 6
Give = Callable[[str], Awaitable[bool]]
"""Sends a code for a sign-in that has everything else, and says whether it was accepted."""


@pytest.fixture
def dice() -> Dice:
    """One way through the replicas for each row."""
    return Dice(7)


@dataclass
class Person:
    """Somebody with an app, and as many browsers as an attacker with the password likes."""

    service: RunningService
    dice: Dice
    provider: FakeProvider
    username: str
    stack: AsyncExitStack
    phone: Phone = field(default_factory=Phone)

    def browser(self, address: str) -> Browser:
        """Open one at this address, which a proxy before ours names."""
        headers = {"X-Forwarded-For": address}
        browser = Browser(self.service.issuer, headers=headers, **self.dice.session)
        self.stack.push_async_callback(browser.close)
        return browser

    async def enrol(self, way: str) -> None:
        """Set the app up, after the password or the provider's word."""
        browser = self.browser("192.0.2.1")
        login = await browser.get(SECURITY)
        if way == "provider":
            self.provider.claims |= {"sub": self.username, "auth_time": timedelta()}
            sent = await browser.get(login.provider_links["upstream"])
            security = await browser.get(self.provider.answer(sent))
        else:
            security = await browser.log_in(login, self.username)
        self.phone, _ = await enrol(browser, security)

    async def attempt(self, way: str, address: str) -> Give:
        """Sign in as far as the second factor."""
        if way == "password grant":
            return lambda otp: self.ask_for_tokens(otp, address)
        browser = self.browser(address)
        page = await PAGES[way](self, browser)
        assert page.path == PATH

        async def give(otp: str) -> bool:
            done = await browser.submit(page, otp=otp)
            assert done.path != PATH or done.has("login-error")
            return done.path != PATH

        return give

    async def ask_for_tokens(self, otp: str, address: str) -> bool:
        form = {"username": self.username, "password": f"{self.username}-password", "otp": otp}
        headers = {"X-Forwarded-For": address}
        answer = await self.service.token(
            "frontend", grant_type="password", scope="api1", headers=headers, **form
        )
        assert answer.status == 200 or answer.refusal == (400, "invalid_grant")
        return answer.status == 200


async def at_client(person: Person, browser: Browser) -> Page:
    return await ClientApp(person.service, browser).login(person.username)


async def at_account(person: Person, browser: Browser) -> Page:
    return await browser.log_in(await browser.get("/account"), person.username)


async def for_device(person: Person, browser: Browser) -> Page:
    tv = await Television.switch_on(person.service, browser)
    return await tv.confirmation(person.username)


async def for_ciba(person: Person, browser: Browser) -> Page:
    till, token = Device(person.service), {"client_notification_token": NOTIFICATION_TOKEN}
    auth_req_id = await till.begin(login_hint=person.username, **token)
    return await open_request(browser, auth_req_id, person.username)


async def from_provider(person: Person, browser: Browser) -> Page:
    app = ClientApp(person.service, browser)
    sent = await app.authorize(acr_values="idp:upstream")
    return await browser.get(person.provider.answer(sent))


async def at_remembered_browser(person: Person, browser: Browser) -> Page:
    """The password again, in a browser that has kept a complete session."""
    app, code = ClientApp(person.service, browser), person.phone.recovery_codes[0]
    person.phone.recovery_codes = person.phone.recovery_codes[1:]
    page = await browser.log_in(await app.authorize(), person.username, remember="true")
    done = await browser.submit(page, method="recovery_code", recovery_code=code)
    assert done.has("recovery-codes-left")
    return await browser.log_in(await app.authorize(prompt="login"), person.username)


PAGES: Mapping[str, Callable[[Person, Browser], Awaitable[Page]]] = {
    "authorize": at_client,
    "account": at_account,
    "device": for_device,
    "ciba": for_ciba,
    "provider": from_provider,
    "remembered browser": at_remembered_browser,
}

PersonOf = Callable[[str], Person]


@pytest.fixture
async def person_of(
    service: RunningService, dice: Dice, provider: FakeProvider
) -> AsyncIterator[PersonOf]:
    async with AsyncExitStack() as stack:
        yield lambda username: Person(service, dice, provider, username, stack)


def test_every_way_has_its_row() -> None:
    assert {*WAYS} == {*PAGES, "password grant"}


@pytest.mark.parametrize("way", WAYS)
async def test_code_counts_once(person_of: PersonOf, way: str) -> None:
    """A code that was read on the way, tried at any replica and page."""
    person = person_of(f"replay-{way}")
    await person.enrol(way)
    code = person.phone.code(steps_ahead=1)
    attempts = [await person.attempt(way, f"198.51.100.{number}") for number in range(AT_ONCE)]
    assert sum(await asyncio.gather(*[give(code) for give in attempts])) == 1
    for other in (way, "provider" if way == "provider" else "password grant"):
        give = await person.attempt(other, "198.51.100.100")
        assert not await give(code)


@pytest.mark.parametrize("way", WAYS)
async def test_wrong_codes_lock_at_every_replica_and_door(person_of: PersonOf, way: str) -> None:
    person, address = person_of(f"guess-{way}"), f"203.0.113.{WAYS.index(way)}"
    await person.enrol(way)
    doors = ("provider",) if way == "provider" else (way, "authorize", "password grant")
    attempts = [await person.attempt(way, address) for _ in range(FAILURES)]
    after = [await person.attempt(door, address) for door in doors]
    wrong = person.phone.wrong_code()
    assert not any([await give(wrong) for give in attempts])
    right = person.phone.code(steps_ahead=1)
    assert not any([await give(right) for give in (*attempts, *after)])
    elsewhere = await person.attempt(way, "198.51.100.200")
    assert await elsewhere(right)


async def test_recovery_code_counts_once(person_of: PersonOf) -> None:
    person = person_of("replay-recovery code")
    await person.enrol("authorize")
    halves = list[tuple[Browser, Page]]()
    for number in range(AT_ONCE):
        browser = person.browser(f"198.51.100.{number}")
        halves.append((browser, await at_client(person, browser)))
    used = person.phone.recovery_codes[0]

    async def give(browser: Browser, page: Page) -> Page:
        return await browser.submit(page, method="recovery_code", recovery_code=used)

    pages = await asyncio.gather(*[give(browser, page) for browser, page in halves])
    assert sum(page.has("recovery-codes-left") for page in pages) == 1
    browser = person.browser("198.51.100.100")
    assert (await give(browser, await at_client(person, browser))).path == PATH
