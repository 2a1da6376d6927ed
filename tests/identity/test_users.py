"""Users come from the file, by folded names, or from an operator's own store."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest
from msgspec.structs import replace

from service.config.problem import CannotServe
from service.config.schema.users import Users
from service.events.timings import ignore_timing
from service.identity import sources
from service.identity.sources import Tools
from service.identity.users import Directory, FileUsers
from service.keys.sealing import Seal
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


@pytest.mark.parametrize("username", ["Bob", "bob", "BOB", "Ｂｏｂ", "\u200bbob\u00a0", " bob\t"])
async def test_a_name_is_compared_folded(registry: Live, username: str) -> None:
    assert await FileUsers(registry).by_username(username) == BOB


async def test_a_user_is_found_by_subject_alone(registry: Live) -> None:
    users = FileUsers(registry)
    assert (await users.by_subject(ALICE.sub), await users.by_subject("alice")) == (ALICE, None)


async def test_an_address_is_a_name_only_where_that_is_configured(registry: Live) -> None:
    mail = "Alice@Example.com"
    registry.current = replace(REGISTRY, users=(replace(ALICE, claims={"email": mail}), BOB))
    names = ["alice@example.com", " ALICE@example.com"]
    for is_on, found in ((False, None), (True, ALICE.sub)):
        users = FileUsers(registry, sign_in_by_email=is_on)
        assert {getattr(await users.by_username(name), "sub", None) for name in names} == {found}
        assert [user.username for user in await users.list_users("al", 9)] == ["alice"]


async def test_an_address_that_two_have_or_that_is_a_name_finds_no_user(registry: Live) -> None:
    shared, taken = {"email": "both@example.com"}, {"email": BOB.username}
    alice, carol = (
        replace(ALICE, claims=shared),
        replace(ALICE, sub="9", username="c", claims=shared),
    )
    eve = replace(ALICE, sub="10", username="eve", claims=taken)
    registry.current = replace(REGISTRY, users=(alice, carol, eve, BOB))
    users = FileUsers(registry, sign_in_by_email=True)
    assert await users.by_username("both@example.com") is None
    assert await users.by_username(BOB.username) == BOB


async def test_a_reload_counts_at_once(registry: Live) -> None:
    users = FileUsers(registry)
    assert await users.by_username("alice") == ALICE
    registry.current = replace(REGISTRY, users=(BOB,))
    assert (await users.by_username("alice"), await users.by_username("bob")) == (None, BOB)


def open_users(registry: Live, source: str = "file") -> Directory:
    tools = Tools(
        registry=registry,
        open_http=cast("Any", None),
        stores=cast("Any", None),
        seal=Seal(()),
        timed=ignore_timing,
    )
    return sources.open_users(Users(source=source), tools)


def test_file_is_the_user_store_by_default(registry: Live) -> None:
    assert isinstance(open_users(registry), FileUsers)


async def test_an_operators_store_is_found_by_its_import_path(registry: Live) -> None:
    users = open_users(registry, "tests.identity.test_users:Everybody")
    assert await users.by_username("anybody") == ALICE
    assert await users.by_email("alice@example.com") is None


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("no_such_package.users:Store", "No module named 'no_such_package'"),
        ("tests.identity.test_users:Nobody", "has no attribute 'Nobody'"),
        ("not a path:", "cannot be imported"),
        ("tests.identity.test_users:NoStore", "has no method by_subject"),
        ("tests.identity.test_users:Moody", "OSError: no database"),
    ],
    ids=["no module", "no class", "no path", "no store", "raises"],
)
def test_a_store_that_cannot_be_used_says_why(registry: Live, source: str, why: str) -> None:
    with pytest.raises(CannotServe, match=why) as refusal:
        open_users(registry, source)
    assert str(refusal.value).startswith(f"{source} ")
    assert refusal.value.finding.location == ("users", "source")


def test_a_source_whose_package_is_missing_says_what_to_install(
    registry: Live, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "needy_source.py").write_text("import no_such_driver")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sources, "SOURCES", {"needy": "needy_source"})
    with pytest.raises(CannotServe, match="needy needs the package no_such_driver") as refusal:
        open_users(registry, "needy")
    assert "scripts/install.py requirements-all.lock" in str(refusal.value.finding.hint)
