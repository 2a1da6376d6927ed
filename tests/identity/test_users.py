"""Users come from the file, by folded names, or from an operator's own store."""

from __future__ import annotations

from dataclasses import replace

import pytest

from service.config.problem import CannotServe
from service.identity.users import FileUsers, open_users
from tests.identity.people import ALICE, BOB, REGISTRY, Live


class Everybody:
    """An operator's own store, in which everybody is Alice."""

    async def by_subject(self, sub: str) -> object:
        return ALICE

    async def by_username(self, username: str) -> object:
        return ALICE


class NoStore:
    """Lacks what a store must have."""


class Moody:
    """Cannot be made."""

    def __init__(self) -> None:
        raise OSError("no database")


@pytest.mark.parametrize("username", ["Bob", "bob", "BOB", "Ｂｏｂ"])
async def test_a_name_is_compared_folded(registry: Live, username: str) -> None:
    assert await FileUsers(registry).by_username(username) == BOB


async def test_a_user_is_found_by_subject_alone(registry: Live) -> None:
    users = FileUsers(registry)
    assert (await users.by_subject(ALICE.sub), await users.by_subject("alice")) == (ALICE, None)


async def test_a_reload_counts_at_once(registry: Live) -> None:
    users = FileUsers(registry)
    assert await users.by_username("alice") == ALICE
    registry.current = replace(REGISTRY, users=(BOB,))
    assert (await users.by_username("alice"), await users.by_username("bob")) == (None, BOB)


def test_file_is_the_user_store_by_default(registry: Live) -> None:
    assert isinstance(open_users(registry), FileUsers)


async def test_an_operators_store_is_found_by_its_import_path(registry: Live) -> None:
    registry.current = replace(REGISTRY, user_store="tests.identity.test_users:Everybody")
    assert await open_users(registry).by_username("anybody") == ALICE


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("no_such_package.users:Store", "No module named 'no_such_package'"),
        ("tests.identity.test_users:Nobody", "has no attribute 'Nobody'"),
        ("not a path", "no installed package"),
        ("tests.identity.test_users:NoStore", "has no method by_subject"),
        ("tests.identity.test_users:Moody", "OSError: no database"),
    ],
    ids=["no module", "no class", "no path", "no store", "raises"],
)
def test_a_store_that_cannot_be_used_says_why(registry: Live, source: str, why: str) -> None:
    registry.current = replace(REGISTRY, user_store=source)
    with pytest.raises(CannotServe, match=why) as refusal:
        open_users(registry)
    assert str(refusal.value).startswith(f"{source} ")
    assert refusal.value.finding.location == ("users", "source")
