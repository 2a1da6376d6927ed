"""Only the right password signs in; every other answer is the same (OWASP ASVS 6.3.8)."""

from __future__ import annotations

import asyncio

import pytest

from service.identity.sign_in import LocalSignIn
from service.model.events import LoginFailed, LoginSucceeded
from tests.identity.people import ADDRESS, ALICE, PASSWORD


async def test_the_right_password_signs_in(sign_in: LocalSignIn, events: list[object]) -> None:
    assert await sign_in.verify("ALICE", PASSWORD, address=ADDRESS) == ALICE
    assert events == [LoginSucceeded(subject=ALICE.sub, username="ALICE", address=ADDRESS)]


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
    sign_in: LocalSignIn, events: list[object], username: str, password: str, reason: str
) -> None:
    assert await sign_in.verify(username, password, address=ADDRESS) is None
    (failed,) = events
    assert isinstance(failed, LoginFailed)
    assert failed.reason == reason


async def test_a_password_typed_as_a_name_is_not_logged(
    sign_in: LocalSignIn, events: list[object]
) -> None:
    await sign_in.verify(PASSWORD, "", address=ADDRESS)
    assert PASSWORD not in repr(events)


async def test_a_failure_names_an_account_that_is_known(
    sign_in: LocalSignIn, events: list[object]
) -> None:
    await sign_in.verify("alice", "wrong", address=ADDRESS)
    assert events == [
        LoginFailed(username="alice", subject=ALICE.sub, address=ADDRESS, reason="wrong_password")
    ]


async def test_a_burst_guesses_no_more_than_the_throttle_allows(
    sign_in: LocalSignIn, events: list[object]
) -> None:
    guesses = [sign_in.verify("alice", "wrong", address=ADDRESS) for _ in range(20)]
    await asyncio.gather(*guesses)
    tried = [e for e in events if isinstance(e, LoginFailed) and e.reason == "wrong_password"]
    assert len(tried) <= 2 + 4
