"""Guesses at the codes of an account lock it for longer and longer (NIST SP 800-63B §3.2.2, ASVS 6.3.1)."""

from __future__ import annotations

import asyncio
import itertools
from typing import Any

import pytest

from service.events.factors import FactorLocked, FactorRefused
from service.identity.factors.guesses import DAY, EVERY, LONG, MOST
from service.model.factors import FactorNotice
from tests.conftest import Clock
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import Answer, RunningService
from tests.factors import telling
from tests.factors.keyring import enrol, use
from tests.factors.phone import ALICE, Phone

LOCKOUT = 15 * 60
HOSTS = itertools.count()


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration() | {"server": {"trusted_proxies": ["127.0.0.0/8"]}}
    configuration["users"]["notifier"] = "tests.factors.telling:Teller"
    return configuration


def locks(service: RunningService) -> list[int]:
    """Return the seconds of all locks so far."""
    return [event.seconds for event in service.events if isinstance(event, FactorLocked)]


def judged(service: RunningService) -> int:
    """Return how many wrong codes were compared."""
    refused = [event for event in service.events if isinstance(event, FactorRefused)]
    return sum(event.reason == "wrong" for event in refused)


async def guess(service: RunningService, otp: str) -> Answer:
    """Send a code with the right password, each time from an address of its own, which our proxy names."""
    address = f"192.0.2.{next(HOSTS) % 250}"
    return await service.user_token(otp=otp, headers={"X-Forwarded-For": address})


async def test_every_lock_is_longer_until_a_hundred_guesses_lock_for_a_month(
    service: RunningService, phone: Phone, clock: Clock
) -> None:
    for _ in range(MOST):
        assert (await guess(service, phone.wrong_code())).status == 400
        if judged(service) % EVERY == 0:
            clock.forward(seconds=locks(service)[-1] - 60)
            assert (await guess(service, phone.code())).status == 400
            clock.forward(seconds=61)
    doubled = [LOCKOUT << nth for nth in range(7)]
    assert locks(service) == [*doubled, DAY, DAY, LONG]
    assert (judged(service), (await guess(service, phone.code())).status) == (MOST, 200)


async def test_a_right_code_ends_the_row(
    service: RunningService, phone: Phone, clock: Clock
) -> None:
    for _ in range(3):
        for _ in range(EVERY - 1):
            await guess(service, phone.wrong_code())
        assert (await guess(service, phone.code())).status == 200
        clock.forward(minutes=2)
    for expected in (LOCKOUT, 2 * LOCKOUT):
        for _ in range(EVERY):
            await guess(service, phone.wrong_code())
        assert locks(service)[-1] == expected
        clock.forward(seconds=expected)
    assert (await guess(service, phone.code())).status == 200
    for _ in range(EVERY):
        await guess(service, phone.wrong_code())
    assert locks(service)[-1] == LOCKOUT


async def test_wrong_codes_of_all_kinds_and_places_are_counted_together(
    app: ClientApp, half: Page, phone: Phone
) -> None:
    await app.browser.submit(half, otp=phone.wrong_code())
    await app.browser.submit(half, method="recovery_code", recovery_code="wrong")
    for _ in range(EVERY - 2):
        await guess(app.service, phone.wrong_code())
    assert locks(app.service) == [LOCKOUT]
    page = await app.browser.submit(half, otp=phone.code())
    assert page.has("login-error")
    code = phone.recovery_codes[0]
    page = await app.browser.submit(page, method="recovery_code", recovery_code=code)
    assert page.has("login-error")


async def test_guesses_at_the_same_moment_are_no_more_than_one_after_the_other(
    service: RunningService, phone: Phone
) -> None:
    await asyncio.gather(*[guess(service, phone.wrong_code()) for _ in range(3 * EVERY)])
    assert (judged(service), locks(service)) == (EVERY, [LOCKOUT])


async def test_a_code_without_the_password_counts_for_nothing(
    service: RunningService, phone: Phone
) -> None:
    form = {"username": "alice", "password": "wrong", "scope": "api1", "otp": phone.wrong_code()}
    for last in range(2 * EVERY):
        headers = {"X-Forwarded-For": f"192.0.2.{last}"}
        await service.token("frontend", grant_type="password", headers=headers, **form)
    assert (await guess(service, phone.code())).status == 200
    assert judged(service) == 0


async def test_a_user_is_notified_of_a_lock(service: RunningService, phone: Phone) -> None:
    telling.told.clear()
    for _ in range(EVERY + 2):
        await guess(service, phone.wrong_code())
    assert telling.told == [FactorNotice(subject=ALICE, change="factor_locked", method="otp")]


async def test_a_passkey_is_accepted_while_codes_are_locked(
    app: ClientApp, phone: Phone, clock: Clock
) -> None:
    mine = await enrol(app.service)
    for lock in (LOCKOUT, 2 * LOCKOUT):
        for _ in range(EVERY):
            await guess(app.service, phone.wrong_code())
        assert locks(app.service)[-1] == lock
        clock.forward(seconds=LOCKOUT + 1)
    assert (await guess(app.service, phone.code())).status == 400
    assert "code" in (await use(app.browser, await app.login(), mine)).parameters
    assert (await guess(app.service, phone.code())).status == 200
