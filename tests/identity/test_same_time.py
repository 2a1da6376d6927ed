"""The time of a refusal discloses neither accounts nor locks, and a lock saves the hash (OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest
from argon2 import PasswordHasher

from service.identity import passwords as module
from service.identity.passwords import Passwords
from service.identity.sign_in import LocalSignIn
from service.model.password_hash import USUAL, PasswordHash, parse_hash
from service.model.user import User
from tests.identity.people import ADDRESS, ALICE, BOB, PASSWORD, REGISTRY, Live

BCRYPT = replace(ALICE, password="$2a$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe")
"""Costs less than the usual hash, and more than the cheap one."""
DJANGO = replace(
    BOB, password="pbkdf2_sha256$1000000$seasalt$r1uLUxoxpP2Ued/qxvmje7UH9PUJBkRrvf9gGPL7Cps="
)
"""Costs more than all others."""
CHEAP = replace(BOB, password=PasswordHasher(1, 64, 1).hash(PASSWORD))
SLOW = replace(ALICE, password=PasswordHasher(3, 65536, 1).hash(PASSWORD))


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The shapes of all hashes that were computed: what their time depends on."""
    shapes, matches = list[object](), vars(module)["matches"]

    def record_shape(password: str, stored: PasswordHash) -> bool:
        shapes.append(stored.shape)
        return bool(matches(password, stored))

    monkeypatch.setattr(module, "matches", record_shape)
    return shapes


def shape_of(user: User) -> object:
    return parse_hash(str(user.password)).shape


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
    ("users", "slowest"),
    [
        ((), None),
        ((CHEAP,), CHEAP),
        ((CHEAP, ALICE), ALICE),
        ((SLOW, CHEAP, ALICE), SLOW),
        ((replace(ALICE, password=None), CHEAP), CHEAP),
        ((CHEAP, BCRYPT), BCRYPT),
        ((SLOW, DJANGO, BCRYPT), DJANGO),
        ((replace(ALICE, password="$1$salt$qJH7.N4xYta3aEG/dfqo/0"), CHEAP), CHEAP),
    ],
    ids=[
        *("nobody", "all cheap", "the usual and a cheap one", "a slow one"),
        *("none without password", "bcrypt", "mixed formats", "an unknown format"),
    ],
)
async def test_unknown_user_costs_as_much_as_the_slowest_user(
    sign_in: LocalSignIn,
    registry: Live,
    hashed: list[object],
    users: tuple[User, ...],
    slowest: User | None,
) -> None:
    registry.current = replace(REGISTRY, users=users)
    assert await sign_in.verify("mallory", "guess", address=ADDRESS) is None
    assert hashed == [shape_of(slowest) if slowest else USUAL.shape]


async def test_slowest_hash_of_a_user_store_sets_the_cost() -> None:
    passwords = Passwords(Live(replace(REGISTRY, users=())))
    for user in (DJANGO, CHEAP, BCRYPT):
        await passwords.verifies("guess", user.password)
    assert passwords.decoy.shape == shape_of(DJANGO)


async def test_a_slower_hash_ends_the_shorter_times_of_refusals() -> None:
    passwords = Passwords(Live(replace(REGISTRY, users=())))
    await passwords.even_out(0.1, full_cost=True)
    passwords.learn_costs([DJANGO])
    assert not passwords.refusal_times


async def test_a_locked_attempt_costs_no_hash(
    sign_in: LocalSignIn, hashed: list[object], waited: list[float]
) -> None:
    for _ in range(6):
        assert await sign_in.verify("alice", "wrong", address=ADDRESS) is None
    assert len(hashed) == 2
    assert len(waited) == 4


async def test_the_first_locked_attempt_at_a_new_process_is_hashed(
    sign_in: LocalSignIn, hashed: list[object]
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
