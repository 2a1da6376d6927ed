"""Passwords are hashed with Argon2id, at the same cost for everyone (RFC 9106)."""

from __future__ import annotations

import asyncio

import pytest
from msgspec.structs import replace

from service.identity import passwords as module
from service.identity.hashing import hash_password
from service.identity.passwords import Passwords
from service.model.password_hash import PasswordHash
from service.protocol.typed_text import is_plain_text
from tests.identity.people import REGISTRY, Live

PASSWORDS = Passwords(Live())
STORED = hash_password("correct horse")


@pytest.mark.parametrize(
    ("password", "stored", "verifies"),
    [
        ("correct horse", STORED, True),
        ("wrong horse", STORED, False),
        ("", STORED, False),
        ("correct horse", None, False),
        ("correct horse", "", False),
        ("correct horse", "correct horse", False),
        ("correct horse", "$argon2id$torn", False),
        ("correct horse", STORED.replace("$argon2id$", "$argon2i$"), False),
    ],
    ids=["right", "wrong", "empty", "none", "empty hash", "plain", "torn hash", "another kind"],
)
async def test_only_the_right_password_verifies(
    password: str, stored: str | None, verifies: bool
) -> None:
    assert await PASSWORDS.verifies(password, stored) is verifies


async def test_unknown_user_costs_one_hash_as_a_known_one_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    hashes: list[PasswordHash] = []
    monkeypatch.setattr(module, "matches", lambda *given: hashes.append(given[1]))
    passwords = Passwords(Live(replace(REGISTRY, users=())))
    await passwords.verifies("guess", None)
    await passwords.verifies("guess", STORED)
    assert [one.shape for one in hashes] == [("argon2", "id", (19456, 2, 1, 19), 32)] * 2


async def test_a_hash_whose_package_is_missing_is_refused_as_a_wrong_password_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.identity.hashing.find_spec", lambda _: None)
    bcrypt = "$2a$05$bvIG6Nmid91Mu9RcmmWZfO5HJIMCT8riNW0hEp8f6/FuA2/mHZFpe"
    assert not await PASSWORDS.verifies("password", bcrypt)


async def test_hashing_leaves_the_event_loop_free() -> None:
    verification = asyncio.create_task(PASSWORDS.verifies("correct horse", STORED))
    turns_of_the_loop = 0
    while not verification.done():
        await asyncio.sleep(0.001)
        turns_of_the_loop += 1
    assert turns_of_the_loop > 3


@pytest.mark.parametrize(
    ("text", "plain"),
    [("päss wörd 🐎", True), ("x" * 20, True), ("x" * 21, False), ("a\0b", False), ("a\x1bb", False),
     ("a\x85b", False), ("\ud800", False)],
    ids=["letters", "longest", "longer", "NUL", "escape", "C1 control", "lone surrogate"],
)  # fmt: skip
def test_control_characters_and_long_texts_are_refused(text: str, plain: bool) -> None:
    assert is_plain_text(text, longest=20) is plain
