"""`users` lists and shows people, disables them where the source can, unlocks them, resets second factors, and ends everything of a person."""

from __future__ import annotations

import json
from typing import Any

import pytest

from service.model.factors import Factors
from service.model.handle import digest
from tests.cli.conftest import Command
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration
from tests.driving.service import Answer, RunningService
from tests.factors.keyring import enrol as enrol_passkey
from tests.factors.phone import ALICE, Phone
from tests.users.database import SETTINGS, Database


async def test_users_are_listed_by_the_beginning_of_their_names(command: Command) -> None:
    result = await command("users", "list", "--prefix", "A", "--format", "json")
    assert json.loads(result.stdout) == [
        {"sub": ALICE, "username": "alice", "enabled": True, "password": "argon2 (old)"}
    ]
    shown = await command("users", "list", "--limit", "2")
    assert "there are more" in shown.stderr
    assert [line.split()[:3] for line in shown.stdout.splitlines()] == [
        ["SUB", "USERNAME", "ENABLED"],
        [ALICE, "alice", "yes"],
        ["88421113", "bob", "yes"],
    ]


async def test_a_user_is_shown_with_factors_and_sessions_and_without_a_secret(
    command: Command, service: RunningService, app: ClientApp
) -> None:
    await app.tokens(scope="openid api1 offline_access")
    phone = Phone()
    await phone.enrol(service)
    result = await command("users", "show", "--username", "ALICE", "--format", "json")
    shown = json.loads(result.stdout)
    assert shown["claims"]["email"] == "alice@example.com"
    assert (shown["second_factors"], shown["sessions"], shown["grants"]) == (["otp"], 1, 1)
    assert "$argon2" not in result.stdout
    assert "enabled" in (await command("users", "show", "--subject", ALICE)).stdout
    assert ALICE in (await command("users", "show", "alice")).stdout


async def test_lost_factors_are_removed(command: Command, service: RunningService) -> None:
    await Phone().enrol(service)
    passkey = await enrol_passkey(service)
    result = await command("users", "reset-factors", "--username", "alice")
    assert result.stdout == "second factors removed: otp, passkey\n"
    theirs = await enrol_passkey(service, sub="88421113", credential_id=passkey.credential_id)
    assert theirs.credential_id == passkey.credential_id
    found: Factors = await service.features.shared.factors.find(ALICE)
    assert not found.is_enrolled
    assert not found.recovery_codes


async def test_wrong_codes_are_forgotten_with_the_factors(
    command: Command, service: RunningService
) -> None:
    await Phone().enrol(service)
    guesses = service.features.second_factors.guesses
    assert [await guesses.take(ALICE) for _ in range(11)] == [*range(1, 11), 0]
    await command("users", "reset-factors", "--username", "alice")
    assert await guesses.take(ALICE) == 1


@pytest.mark.parametrize("named", [("alice",), ("--subject", ALICE)], ids=["name", "subject"])
async def test_locked_user_signs_in_after_the_unlock(
    command: Command, service: RunningService, named: tuple[str, ...]
) -> None:
    async def sign_in(password: str) -> Answer:
        form = {"username": "alice", "password": password, "scope": "api1"}
        return await service.token("frontend", grant_type="password", **form)

    for _ in range(5):
        await sign_in("wrong")
    assert (await sign_in("alice-password")).refusal == (400, "invalid_grant")
    assert (await command("users", "unlock", *named)).stdout == f"unlocked: {ALICE}\n"
    assert (await sign_in("alice-password")).status == 200


async def test_everything_of_a_person_ends_and_nothing_of_another(
    command: Command, service: RunningService, app: ClientApp
) -> None:
    mine = await app.tokens(scope="openid api1 offline_access")
    browser = Browser(service.issuer)
    others = await ClientApp(service, browser, "spa").tokens("bob")
    await browser.close()
    result = await command("users", "end", "--username", "alice")
    assert result.stdout.startswith("sessions ended: 1; grants revoked: 1")
    assert not await service.is_active(mine["access_token"])
    assert (await app.refresh(mine["refresh_token"])).refusal == (400, "invalid_grant")
    assert (await app.authorize()).has("login")
    assert await service.is_active(others["access_token"])


async def test_factors_that_no_key_can_open_are_removed_unread(
    command: Command, service: RunningService
) -> None:
    await Phone().enrol(service)
    shared = service.features.shared
    record = shared.stores.factors
    key = record.key(digest(ALICE))
    before, lost = await shared.kv.get(key), record.encode("sealed by a lost key")
    assert await shared.kv.replace(key, old=before, new=lost)
    for removed in ("unreadable", "none"):
        result = await command("users", "reset-factors", "--username", "alice")
        assert result.exit_code == 0
        assert result.stdout.endswith(f"second factors removed: {removed}\n")


@pytest.mark.parametrize("name", ["end", "reset-factors"])
async def test_a_subject_that_only_the_store_knows_is_a_persons(
    command: Command, service: RunningService, name: str
) -> None:
    stranger = ("users", name, "--subject", "of a provider")
    result = await command(*stranger)
    assert (result.exit_code, result.stdout) == (1, "")
    assert "nobody has this subject" in result.stderr
    await enrol_passkey(service, sub="of a provider")
    assert (await command(*stranger)).exit_code == 0
    assert (await command("users", name, "--subject", ALICE)).exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "exit_code", "said"),
    [
        (["show", "--username", "mallory"], 1, "no user of users.source has this name"),
        (["unlock", "--subject", "nobody"], 1, "nobody has this subject"),
        (["show"], 2, "name the user, or give --subject"),
        (["show", "--subject", "1", "--username", "alice"], 2, "name the user"),
        (["show", "alice", "--username", "alice"], 2, "name the user"),
        (["disable", "--username", "alice"], 1, "users.list[].enabled"),
        (["list", "--limit", "0"], 2, "0 is not in the range x>=1"),
    ],
    ids=["unknown", "a stranger", "nobody", "two", "two names", "the file", "a list of none"],
)
async def test_what_cannot_be_done_says_why(
    command: Command, arguments: list[str], exit_code: int, said: str
) -> None:
    result = await command("users", *arguments)
    assert result.exit_code == exit_code
    assert said in result.stderr


@pytest.fixture
async def database(tmp_path: Any) -> Database:
    database = Database(f"sqlite+aiosqlite:///{tmp_path}/people.db")
    await database.fill()
    return database


@pytest.fixture
def of_database(database: Database) -> dict[str, Any]:
    sql = {**SETTINGS, "url": database.url, "writable": True}
    return fresh_configuration() | {"users": {"source": "sql", "sql": sql}}


class TestDatabase:
    """Users whose source can be written."""

    @pytest.fixture
    def config(self, of_database: dict[str, Any]) -> dict[str, Any]:
        return of_database

    async def test_a_disabled_user_loses_every_token_and_gets_them_back_when_enabled(
        self, command: Command, service: RunningService
    ) -> None:
        token = (await service.user_token("frontend"))["access_token"]
        assert await service.is_active(token)
        result = await command("users", "disable", "--username", "alice")
        assert result.stdout == "disabled: Alice (1)\n"
        assert not await service.is_active(token)
        assert (await command("users", "enable", "--subject", "1")).stdout == "enabled: Alice (1)\n"
        assert await service.is_active(token)
        listed = json.loads((await command("users", "list", "--format", "json")).stdout)
        assert [(user["username"], user["enabled"]) for user in listed] == [
            ("Alice", True),
            ("bob", True),
            ("carol", False),
        ]

    async def test_a_database_without_its_table_ends_the_command_with_3(
        self, command: Command, database: Database
    ) -> None:
        await database.execute("DROP TABLE people")
        result = await command("users", "list")
        assert result.exit_code == 3
        assert "the user directory gave no usable answer: no such table" in result.stderr
