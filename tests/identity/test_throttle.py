"""Guessing is slowed down for everyone, and nobody is locked out for good (NIST SP 800-63B §3.2.2)."""

from __future__ import annotations

import pytest
import time_machine

from service.events.users import LoginFailed, LoginLocked
from service.identity.password_sign_in import PasswordSignIn
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.rate_limit import networks_of, site_of
from tests.identity.people import ADDRESS, ALICE, PASSWORD, is_locked, on_embedded


async def fail(sign_in: PasswordSignIn, username: str = "alice", address: str = ADDRESS) -> None:
    assert await sign_in.verify(username, "wrong", address=address) is None


async def signs_in(sign_in: PasswordSignIn, address: str = ADDRESS) -> bool:
    return await sign_in.verify("alice", PASSWORD, address=address) == ALICE


async def test_failures_lock_the_account_at_that_address(
    sign_in: PasswordSignIn, events: list[object]
) -> None:
    await fail(sign_in)
    await fail(sign_in)
    assert not await signs_in(sign_in)
    assert events[-2:] == [
        LoginLocked(username="alice", subject=ALICE.sub, address=ADDRESS),
        LoginFailed(username="alice", subject=ALICE.sub, address=ADDRESS, reason="locked"),
    ]
    assert await signs_in(sign_in, "192.0.2.8")


async def test_a_failure_that_was_counted_twice_locks_as_well(
    sign_in: PasswordSignIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    await fail(sign_in)
    by_two = verbs.COUNT.replace("'INCR', KEYS[1]", "'INCRBY', KEYS[1], 2")
    monkeypatch.setattr(verbs, "COUNT", by_two)
    assert await sign_in.throttle.count_failure("alice", ADDRESS)


async def test_a_name_in_other_letters_is_the_same_account(sign_in: PasswordSignIn) -> None:
    await fail(sign_in, "Alice")
    await fail(sign_in, "ＡＬＩＣＥ")
    assert not await signs_in(sign_in)


async def test_success_clears_the_pair(sign_in: PasswordSignIn) -> None:
    for _ in range(3):
        await fail(sign_in)
        assert await signs_in(sign_in)


async def test_ten_times_as_many_lock_the_account_everywhere(sign_in: PasswordSignIn) -> None:
    for host in range(20):
        assert await is_locked(sign_in.throttle, "alice", "198.51.100.1") is False
        await sign_in.throttle.count_failure("alice", f"192.0.2.{host}")
    assert await is_locked(sign_in.throttle, "alice", "198.51.100.1")
    assert not await is_locked(sign_in.throttle, "bob", "198.51.100.1")


async def test_ten_times_as_many_lock_an_address_for_all_accounts(sign_in: PasswordSignIn) -> None:
    for number in range(20):
        assert await is_locked(sign_in.throttle, "alice", ADDRESS) is False
        await sign_in.throttle.count_failure(f"user{number}", ADDRESS)
    assert await is_locked(sign_in.throttle, "alice", ADDRESS)
    assert not await is_locked(sign_in.throttle, "alice", "192.0.2.8")


async def test_networks_of_one_ipv6_site_do_not_lock_an_account_everywhere(
    sign_in: PasswordSignIn,
) -> None:
    for network in range(60):
        await fail(sign_in, address=f"2001:db8:1:{network:x}::7")
    assert not await signs_in(sign_in, "2001:db8:1:ffff::1")
    assert await signs_in(sign_in, "2001:db8:2::1")
    assert await signs_in(sign_in, "192.0.2.8")


async def test_one_place_alone_cannot_lock_an_account_everywhere(sign_in: PasswordSignIn) -> None:
    for _ in range(25):
        await fail(sign_in)
    assert await signs_in(sign_in, "192.0.2.8")


async def test_each_attempt_that_may_be_judged_counts_for_the_account_everywhere(
    sign_in: PasswordSignIn,
) -> None:
    for host in range(10):
        left = [await sign_in.throttle.take_attempt("alice", f"192.0.2.{host}") for _ in range(2)]
        assert left == [1, 0]
    assert await sign_in.throttle.take_attempt("alice", "198.51.100.1") < 0


async def test_attempts_that_must_not_be_judged_do_not_lock_the_account_elsewhere(
    sign_in: PasswordSignIn,
) -> None:
    for _ in range(25):
        await sign_in.throttle.take_attempt("alice", ADDRESS)
    assert await sign_in.throttle.take_attempt("alice", "192.0.2.8") == 1


async def test_operator_unlocks_attempts_that_were_counted_before_they_were_judged(
    sign_in: PasswordSignIn,
) -> None:
    taken = [await sign_in.throttle.take_attempt("alice", ADDRESS) for _ in range(3)]
    await sign_in.throttle.forget("alice")
    assert [*taken, await sign_in.throttle.take_attempt("alice", ADDRESS)] == [1, 0, -1, 1]


@on_embedded
async def test_operator_unlocks_what_is_counted_late_in_the_window(
    sign_in: PasswordSignIn, stopped_clock: time_machine.Traveller
) -> None:
    await fail(sign_in)
    stopped_clock.shift(890)
    await sign_in.throttle.forget("alice")
    await fail(sign_in)
    assert await signs_in(sign_in)


@on_embedded
async def test_lock_ends_although_guesses_continue(
    sign_in: PasswordSignIn, stopped_clock: time_machine.Traveller
) -> None:
    await fail(sign_in)
    for _ in range(6):
        await fail(sign_in)
        stopped_clock.shift(11)
    assert await signs_in(sign_in)


@on_embedded
async def test_failures_are_forgotten_after_the_window(
    sign_in: PasswordSignIn, stopped_clock: time_machine.Traveller
) -> None:
    await fail(sign_in)
    stopped_clock.shift(901)
    await fail(sign_in)
    assert await signs_in(sign_in)


async def test_key_of_a_counter_contains_no_user_name(
    sign_in: PasswordSignIn, kv: KeyValue
) -> None:
    await fail(sign_in)
    keys = [key async for key in kv.find_keys("*")]
    assert len(keys) == 4
    assert all(key.startswith("ts:{") and key.endswith(("}:lf", "}:lfp")) for key in keys)
    assert "alice" not in str(keys)
    assert ADDRESS not in str(keys)


@pytest.mark.parametrize(
    ("address", "counted_as"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:aaaa::1", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:bbbb::2", "2001:db8:1:2::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix", "unix"),
    ],
)
def test_an_ipv6_host_counts_with_its_network(address: str, counted_as: str) -> None:
    assert next(iter(networks_of(address))) == counted_as


def test_hosts_of_one_ipv6_site_count_together() -> None:
    assert {site_of(f"2001:db8:1:{network:x}::7") for network in range(300)} == {"2001:db8:1::/48"}
