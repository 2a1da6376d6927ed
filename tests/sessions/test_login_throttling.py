"""Guessing passwords is slowed down; what a lockout looks like, nobody can tell (ASVS 6.3.1, RFC 6819 §5.1.4.2.3)."""

from __future__ import annotations

from typing import Any

import pytest

from service.model.events import LoginLocked
from tests.conftest import Clock
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration

pytestmark = pytest.mark.rfc("6819#5.1.4.2.3")

FAILURES = 3


@pytest.fixture
def trusted(request: pytest.FixtureRequest) -> list[str]:
    """The proxies that the service believes."""
    return list(getattr(request, "param", ["127.0.0.1/32"]))


@pytest.fixture
def config(trusted: list[str]) -> dict[str, Any]:
    return fresh_configuration() | {
        "limits": {"login_failures": FAILURES, "login_window": "10m", "lockout": "20m"},
        "server": {"trusted_proxies": trusted},
    }


async def attempt(
    app: ClientApp, password: str = "wrong", *, username: str = "alice", address: str = "192.0.2.1"
) -> Page:
    """One try on the login page, from an address that our proxy names."""
    page = await app.authorize()
    fields = dict(page.forms[0].fields)
    fields |= {"username": username, "password": password, "action": "login"}
    headers = {"X-Forwarded-For": address}
    return await app.browser.post("/account/login", fields, headers=headers)


async def fail(app: ClientApp, times: int = FAILURES, **options: str) -> Page:
    """Wrong passwords in a row."""
    return [await attempt(app, **options) for _ in range(times)][-1]


async def test_too_many_failures_lock(app: ClientApp, events: list[object]) -> None:
    await fail(app)
    page = await attempt(app, "alice-password")
    assert page.has("login-error")
    assert LoginLocked(username="alice", address="192.0.2.1") in events


async def test_a_lockout_looks_like_a_wrong_password(app: ClientApp) -> None:
    wrong = await fail(app, 1)
    await fail(app, FAILURES)
    locked = await attempt(app, "alice-password")
    assert (locked.status, locked.text_of("login-error")) == (200, wrong.text_of("login-error"))
    assert "Retry-After" not in locked.headers


async def test_one_failure_less_does_not(app: ClientApp) -> None:
    await fail(app, FAILURES - 1)
    assert "code" in (await attempt(app, "alice-password")).parameters


async def test_success_clears_the_count(app: ClientApp) -> None:
    await fail(app, FAILURES - 1)
    await attempt(app, "alice-password")
    app.browser.forget_cookies()
    await fail(app, FAILURES - 1)
    assert "code" in (await attempt(app, "alice-password")).parameters


async def test_elsewhere_the_account_is_not_locked(app: ClientApp) -> None:
    await fail(app, address="192.0.2.1")
    page = await attempt(app, "alice-password", address="192.0.2.2")
    assert "code" in page.parameters


async def test_another_account_is_not_locked(app: ClientApp) -> None:
    await fail(app)
    assert "code" in (await attempt(app, "bob-password", username="bob")).parameters


async def test_other_spellings_count_together(app: ClientApp) -> None:
    for username in ("alice", "ALICE", "ａｌｉｃｅ"):
        await attempt(app, username=username)
    assert (await attempt(app, "alice-password")).has("login-error")


async def test_ten_times_as_many_from_anywhere_lock_the_account(app: ClientApp) -> None:
    for number in range(FAILURES * 10):
        await attempt(app, address=f"198.51.100.{number}")
    assert (await attempt(app, "alice-password", address="192.0.2.9")).has("login-error")


async def test_ten_times_as_many_accounts_lock_the_address(app: ClientApp) -> None:
    for number in range(FAILURES * 10):
        await attempt(app, username=f"user{number}")
    assert (await attempt(app, "bob-password", username="bob")).has("login-error")


async def test_a_lockout_ends(app: ClientApp, clock: Clock) -> None:
    await fail(app)
    clock.forward(minutes=19)
    assert (await attempt(app, "alice-password")).has("login-error")
    clock.forward(minutes=2)
    assert "code" in (await attempt(app, "alice-password")).parameters


async def test_trying_on_does_not_prolong_it(app: ClientApp, clock: Clock) -> None:
    await fail(app)
    clock.forward(minutes=15)
    await fail(app)
    clock.forward(minutes=6)
    assert "code" in (await attempt(app, "alice-password")).parameters


async def test_failures_are_forgotten_after_the_window(app: ClientApp, clock: Clock) -> None:
    await fail(app, FAILURES - 1)
    clock.forward(minutes=11)
    await fail(app, FAILURES - 1)
    assert "code" in (await attempt(app, "alice-password")).parameters


async def test_a_strangers_word_about_addresses_does_not_count(app: ClientApp) -> None:
    for number in range(FAILURES):
        await attempt(app, address=f"203.0.113.{number}, 192.0.2.1")
    assert (await attempt(app, "alice-password")).has("login-error")


@pytest.mark.parametrize("trusted", [[]], indirect=True)
async def test_without_a_trusted_proxy_no_header_counts(app: ClientApp) -> None:
    for number in range(FAILURES):
        await attempt(app, address=f"203.0.113.{number}")
    assert (await attempt(app, "alice-password")).has("login-error")
