"""Names with letters that databases lower in different ways sign in (Unicode §3.13)."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from service.identity.sources.sql_spellings import spell
from service.model.user import fold_username
from tests.driving.service import RunningService
from tests.users.database import Database
from tests.users.test_sql_users import WRONG, sign_in

pytestmark = pytest.mark.usefixtures("one_store")

COLLATIONS = {
    "sqlite": ["BINARY", "NOCASE"],
    "postgresql": ['"C"', '"C.utf8"', '"en-x-icu"', '"tr-x-icu"'],
    "mysql": ["utf8mb4_bin", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_turkish_ci"],
}
DECOMPOSED = unicodedata.normalize("NFD", "José")
NAMES = {
    "groß": ["groß", "Groß", "GROß", "gross"],
    "Groß": ["groß", "Groß"],
    "İpek": ["İpek"],
    DECOMPOSED: [DECOMPOSED, "josé", "JOSÉ", "José"],
    "Ünal": ["Ünal", "ünal", "ÜNAL", unicodedata.normalize("NFD", "ünal")],
    "Özgür": ["özgür", "ÖZGÜR"],
    "IRIS": ["iris", "Iris"],
    "ΟΔΥΣΣΕΥΣ": ["οδυσσευς", "Οδυσσευς"],
    "Жанна": ["жанна", "ЖАННА"],
}
"""Names as they are stored, and as people type them."""


@pytest.fixture
def config(database: Database) -> dict[str, Any]:
    return database.configuration()


@pytest.fixture(params=range(4))
def collated(request: pytest.FixtureRequest, config: dict[str, Any]) -> None:
    """Let the database compare names by one of its rules."""
    known = COLLATIONS[config["users"]["sql"]["url"].partition("+")[0]]
    rule = known[request.param % len(known)]
    config["users"]["sql"]["columns"]["username"] = f"login COLLATE {rule}"
    config["users"]["sql"]["claims"]["email"] = f"mail COLLATE {rule}"


@pytest.mark.usefixtures("collated")
async def test_name_signs_in_and_its_address_and_beginning_are_found(
    service: RunningService, database: Database
) -> None:
    await database.execute("DELETE FROM people WHERE id <> '2'")
    users = service.features.shared.users
    for name, typed in NAMES.items():
        await database.execute(
            "UPDATE people SET login = :name, mail = :mail, confirmed = :yes",
            name=name,
            mail=f"{name}@example.com",
            yes=True,
        )
        for one in typed:
            assert (await sign_in(service, one, "bob-password")).status == 200, (name, one)
            found = await users.by_email(f"{one}@example.com")
            assert found is not None, (name, one)
            beginning = fold_username(one)[:2]
            listed = await users.list_users(beginning, 5)
            assert [user.username for user in listed] == [name], (name, beginning)


@pytest.mark.usefixtures("collated")
async def test_another_name_is_unknown(service: RunningService, database: Database) -> None:
    await database.add("4", "José")
    assert (await sign_in(service, "Jose", "josé-password")).refusal == WRONG
    assert (await sign_in(service, "josè", "josé-password")).refusal == WRONG


@pytest.mark.parametrize(
    ("name", "most"), [("alice.smith", 2), ("bob", 1), ("groß", 3), ("x" * 254, 1), ("é" * 254, 4)]
)
def test_few_spellings_are_asked_for(name: str, most: int) -> None:
    assert name in spell(name)
    assert len(spell(name)) <= most


class TestPaddedColumns:
    """Columns of the type CHAR(n)."""

    @pytest.fixture
    async def database(self, database: Database) -> Database:
        await database.execute("ALTER TABLE people RENAME TO people_before")
        await database.execute(
            "CREATE TABLE people (id CHAR(40) PRIMARY KEY, login CHAR(100), secret CHAR(250), active BOOLEAN,"
            " full_name CHAR(100), mail CHAR(100), confirmed BOOLEAN, changed TIMESTAMP, height DECIMAL(5, 2))"
        )
        await database.execute("INSERT INTO people SELECT * FROM people_before")
        await database.execute("DROP TABLE people_before")
        return database

    async def test_their_spaces_do_not_count(self, service: RunningService) -> None:
        issued = await sign_in(service, "alice")
        assert await service.is_active(issued["access_token"])
        users = service.features.shared.users
        found = await users.by_subject("1")
        assert found == await users.by_email("alice@example.com")
        assert found is not None
        assert (found.sub, found.username, found.claims["name"]) == ("1", "Alice", "Alice Smith")
        assert await users.set_enabled("1", enabled=False)
