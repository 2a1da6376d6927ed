"""The time of a refusal discloses neither accounts nor locks, and a lock saves the hash (OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from argon2 import PasswordHasher

from service.identity import passwords as module
from service.identity.passwords import Passwords, cost_of
from service.identity.sign_in import LocalSignIn
from service.model.user import User
from tests.identity.people import ADDRESS, ALICE, BOB, PASSWORD, REGISTRY, Live

CHEAP = replace(BOB, password=PasswordHasher(1, 64, 1).hash(PASSWORD))
SLOW = replace(ALICE, password=PasswordHasher(3, 65536, 1).hash(PASSWORD))


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The costs of all that was hashed."""
    costs, matches = list[str](), vars(module)["_matches"]

    def record_cost(password: str, stored: str) -> bool:
        costs.append(cost_of(stored))
        return bool(matches(password, stored))

    monkeypatch.setattr(module, "_matches", record_cost)
    return costs


@pytest.fixture
def waited(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long refusals waited, which takes no time here."""
    seconds, sleep = list[float](), asyncio.sleep

    async def record_delay(delay: float) -> None:
        seconds.append(delay)
        await sleep(0)

    monkeypatch.setattr("service.identity.passwords.asyncio.sleep", record_delay)
    return seconds


@pytest.mark.parametrize(
    ("users", "cost"),
    [
        ((), "m=19456,t=2,p=1"),
        ((CHEAP,), "m=64,t=1,p=1"),
        ((CHEAP, ALICE), "m=19456,t=2,p=1"),
        ((SLOW, CHEAP, ALICE), "m=65536,t=3,p=1"),
        ((replace(ALICE, password=None), CHEAP), "m=64,t=1,p=1"),
    ],
    ids=["nobody", "all cheap", "the usual and a cheap one", "a slow one", "none without password"],
)
async def test_unknown_user_costs_as_much_as_the_slowest_user(
    sign_in: LocalSignIn,
    registry: Live,
    hashed: list[str],
    users: tuple[User, ...],
    cost: str,
) -> None:
    registry.current = replace(REGISTRY, users=users)
    assert await sign_in.verify("mallory", "guess", address=ADDRESS) is None
    assert hashed == [cost]


async def test_slowest_hash_of_a_user_store_sets_the_cost() -> None:
    passwords = Passwords(Live(replace(REGISTRY, users=())))
    for user in (SLOW, CHEAP):
        await passwords.verifies("guess", user.password)
    assert passwords.decoy_cost == "m=65536,t=3,p=1"


async def test_a_locked_attempt_costs_no_hash(
    sign_in: LocalSignIn, hashed: list[str], waited: list[float]
) -> None:
    for _ in range(6):
        assert await sign_in.verify("alice", "wrong", address=ADDRESS) is None
    assert len(hashed) == 2
    assert len(waited) == 4


async def test_the_first_locked_attempt_at_a_new_process_is_hashed(
    sign_in: LocalSignIn, hashed: list[str]
) -> None:
    for _ in range(2):
        await sign_in.throttle.count_failure("alice", ADDRESS)
    assert await sign_in.verify("alice", PASSWORD, address=ADDRESS) is None
    assert len(hashed) == 1


async def test_a_refusal_that_was_cheaper_takes_as_long_as_the_others(
    sign_in: LocalSignIn, registry: Live, waited: list[float]
) -> None:
    registry.current = replace(REGISTRY, users=(ALICE, CHEAP))
    await sign_in.verify("mallory", "wrong", address=ADDRESS)
    await sign_in.verify("bob", "wrong", address=ADDRESS)
    assert len(waited) == 1


async def test_cheaper_refusal_waits_for_the_rest_of_the_time(
    registry: Live, waited: list[float]
) -> None:
    times = Passwords(registry)
    await times.even_out(0.2, full_cost=False)
    await times.even_out(5.0, full_cost=True)
    await times.even_out(0.5, full_cost=False)
    assert waited == [4.5]
