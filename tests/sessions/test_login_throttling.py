"""Guessing passwords is slowed down; what a lockout looks like, nobody can tell (ASVS 6.3.1, RFC 6819 §5.1.4.2.3)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.users import LoginLocked
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


async def test_too_many_failures_lock_the_account(app: ClientApp, events: list[object]) -> None:
    await fail(app)
    page = await attempt(app, "alice-password")
    assert page.has("login-error")
    assert LoginLocked(username="alice", subject="818727", address="192.0.2.1") in events


async def test_a_lockout_looks_like_a_wrong_password(app: ClientApp) -> None:
    wrong = await fail(app, 1)
    await fail(app, FAILURES)
    locked = await attempt(app, "alice-password")
    assert (locked.status, locked.text_of("login-error")) == (200, wrong.text_of("login-error"))
    assert "Retry-After" not in locked.headers


async def test_after_the_second_failure_the_page_says_how_long_one_may_have_to_wait(
    app: ClientApp,
) -> None:
    assert not (await fail(app, 2)).has("login-wait")
    assert "20 minutes" in (await attempt(app)).text_of("login-wait")


@pytest.mark.parametrize("username", ["alice", "nobody", "carol"])
async def test_page_speaks_of_waiting_whether_or_not_the_account_exists(
    app: ClientApp, username: str
) -> None:
    page = await fail(app, 3, username=username)
    zoe = await fail(app, 1, username="zoe")
    assert page.text_of("login-wait") == zoe.text_of("login-wait")


async def test_locked_user_with_the_right_password_reads_of_waiting(app: ClientApp) -> None:
    await fail(app, FAILURES)
    page = await attempt(app, "alice-password")
    assert page.has("login-wait")
    app.browser.forget_cookies()
    assert not (await attempt(app, "alice-password")).has("login-wait")


async def test_page_does_not_speak_of_waiting_after_a_success(app: ClientApp) -> None:
    await fail(app, 2)
    await attempt(app, "alice-password")
    page = await app.authorize(prompt="login")
    assert not (await app.browser.log_in(page, password="wrong")).has("login-wait")


@pytest.mark.parametrize("count", ["9", "-1", "x", "٣", ""])
async def test_invented_count_of_failures_is_ignored(app: ClientApp, count: str) -> None:
    app.browser.put_cookies({"failed_sign_ins": count})
    assert not (await attempt(app)).has("login-wait")


async def test_one_failure_less_does_not_lock(app: ClientApp) -> None:
    await fail(app, FAILURES - 1)
    assert "code" in (await attempt(app, "alice-password")).parameters


async def test_success_clears_the_count(app: ClientApp) -> None:
    await fail(app, FAILURES - 1)
    await attempt(app, "alice-password")
    app.browser.forget_cookies()
    await fail(app, FAILURES - 1)
    assert "code" in (await attempt(app, "alice-password")).parameters


async def test_account_is_not_locked_at_another_address(app: ClientApp) -> None:
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


async def test_further_attempts_do_not_prolong_a_lockout(app: ClientApp, clock: Clock) -> None:
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


async def test_forwarded_header_of_an_untrusted_peer_does_not_count(app: ClientApp) -> None:
    for number in range(FAILURES):
        await attempt(app, address=f"203.0.113.{number}, 192.0.2.1")
    assert (await attempt(app, "alice-password")).has("login-error")


@pytest.mark.parametrize("trusted", [[]], indirect=True)
async def test_without_a_trusted_proxy_no_header_counts(app: ClientApp) -> None:
    for number in range(FAILURES):
        await attempt(app, address=f"203.0.113.{number}")
    assert (await attempt(app, "alice-password")).has("login-error")
