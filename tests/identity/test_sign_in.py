"""Only the right password signs in; every other answer is the same (OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio

import pytest

from service.events.users import LoginFailed, LoginSucceeded
from service.identity.password_sign_in import PasswordSignIn
from tests.identity.people import ADDRESS, ALICE, PASSWORD, is_locked


async def test_the_right_password_signs_in(sign_in: PasswordSignIn, events: list[object]) -> None:
    assert await sign_in.verify("ALICE", PASSWORD, address=ADDRESS) == ALICE
    assert events == [LoginSucceeded(subject=ALICE.sub, username="ALICE", address=ADDRESS)]


BLANKS = [" ", "\t", "\n", "\u00a0", "\u200b", "\u200d", "\u2060", "\ufeff", "\u3000", " \u200e\t"]


@pytest.mark.parametrize("blank", BLANKS)
async def test_white_space_around_a_name_does_not_count(
    sign_in: PasswordSignIn, events: list[object], blank: str
) -> None:
    assert await sign_in.verify(f"{blank}alice{blank}", PASSWORD, address=ADDRESS) == ALICE
    assert events == [LoginSucceeded(subject=ALICE.sub, username="alice", address=ADDRESS)]


@pytest.mark.parametrize("blank", BLANKS)
async def test_white_space_inside_a_name_or_around_a_password_counts(
    sign_in: PasswordSignIn, blank: str
) -> None:
    assert await sign_in.verify(f"al{blank}ice", PASSWORD, address=ADDRESS) is None
    assert await sign_in.verify("alice", f"{PASSWORD}{blank}", address=ADDRESS) is None


async def test_names_with_white_space_share_one_count_of_failures(sign_in: PasswordSignIn) -> None:
    for blank in BLANKS[:6]:
        await sign_in.verify(f"alice{blank}", "wrong", address=ADDRESS)
    assert await is_locked(sign_in.throttle, "alice", ADDRESS)


@pytest.mark.parametrize(
    ("username", "password", "reason"),
    [
        ("alice", "wrong", "wrong_password"),
        ("alice", "", "wrong_password"),
        ("alice", PASSWORD + "\0", "wrong_password"),
        ("alice", "x" * 201, "wrong_password"),
        ("carol", PASSWORD, "disabled"),
        ("dave", PASSWORD, "wrong_password"),
        ("mallory", PASSWORD, "unknown"),
        ("", "", "unknown"),
        ("ali\0ce", PASSWORD, "malformed"),
        ("x" * 255, PASSWORD, "malformed"),
        ("\ud800", PASSWORD, "malformed"),
    ],
)
async def test_wrong_sign_in_finds_no_user(
    sign_in: PasswordSignIn, events: list[object], username: str, password: str, reason: str
) -> None:
    assert await sign_in.verify(username, password, address=ADDRESS) is None
    (failed,) = events
    assert isinstance(failed, LoginFailed)
    assert failed.reason == reason


async def test_a_password_typed_as_a_name_is_not_logged(
    sign_in: PasswordSignIn, events: list[object]
) -> None:
    await sign_in.verify(PASSWORD, "", address=ADDRESS)
    assert PASSWORD not in repr(events)


async def test_a_failure_names_an_account_that_is_known(
    sign_in: PasswordSignIn, events: list[object]
) -> None:
    await sign_in.verify("alice", "wrong", address=ADDRESS)
    assert events == [
        LoginFailed(username="alice", subject=ALICE.sub, address=ADDRESS, reason="wrong_password")
    ]


async def test_a_burst_guesses_no_more_than_the_throttle_allows(
    sign_in: PasswordSignIn, events: list[object]
) -> None:
    guesses = [sign_in.verify("alice", "wrong", address=ADDRESS) for _ in range(20)]
    await asyncio.gather(*guesses)
    tried = [e for e in events if isinstance(e, LoginFailed) and e.reason == "wrong_password"]
    assert len(tried) <= 2 + 4
