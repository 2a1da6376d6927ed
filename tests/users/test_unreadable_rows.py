"""A row that makes no sense is a disabled user, and hides no other one (people.md)."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService
from tests.users.database import SETTINGS, Database
from tests.users.test_sql_users import WRONG, sign_in

pytestmark = pytest.mark.usefixtures("one_store")

UNREADABLE = {
    "enabled": ("active", "'maybe'", "enabled"),
    "JSON": ("full_name", "'{'", "claims"),
    "a list": ("full_name", "'[]'", "claims"),
    "pairs": ("full_name", "'[[\"a\", 1]]'", "claims"),
    "hash": ("secret", "X'ff'", "password"),
    "time": ("changed", "'hunter2'", "updated_at"),
}
"""The column, its value and what the log calls it."""


@pytest.fixture
async def database(tmp_path: Any) -> Database:
    """An SQLite, whose columns take anything."""
    database = Database(f"sqlite+aiosqlite:///{tmp_path}/people.db")
    await database.fill()
    await database.execute("UPDATE people SET full_name = '{}'")
    return database


@pytest.fixture
def config(database: Database) -> dict[str, Any]:
    sql = {**deepcopy(SETTINGS), "url": database.url}
    select = (
        "SELECT id AS sub, login AS username, secret AS password, active AS enabled, full_name AS claims,"
        " changed AS updated_at FROM people WHERE "
    )
    sql["queries"] = {
        name: select + condition
        for name, condition in (
            ("by_subject", "id = :sub"),
            ("by_username", "LOWER(login) IN :usernames"),
            ("list_users", "LOWER(login) LIKE :prefix LIMIT :limit"),
        )
    }
    return fresh_configuration() | {"users": {"source": "sql", "sql": sql, "timeout": "30s"}}


@pytest.mark.parametrize(("column", "value", "name"), UNREADABLE.values(), ids=list(UNREADABLE))
async def test_row_that_cannot_be_read_is_a_disabled_user_whom_the_log_names(
    service: RunningService, database: Database, column: str, value: str, name: str
) -> None:
    token = (await sign_in(service, "bob"))["access_token"]
    await database.execute(f"UPDATE people SET {column} = {value} WHERE id = '2'")  # noqa: S608
    with capture_logs() as logged:
        listed = await service.features.shared.users.list_users("", 10)
        assert (await sign_in(service, "bob")).refusal == WRONG
        assert not await service.is_active(token)
    enabled = {user.username: user.enabled for user in listed}
    assert enabled == {"Alice": True, "bob": False, "carol": False}
    warned = [line for line in logged if line.get("sub") == "2"]
    assert {line["column"] for line in warned} == {name}
    assert "hunter2" not in str(logged)
    assert (await sign_in(service, "alice")).status == 200


NOBODY = {
    "no sub": "id = NULL",
    "no name": "login = NULL",
    "an empty sub": "id = ''",
    "a sub that is too long": "id = '" + "2" * 256 + "'",
    "a sub beyond ASCII": "id = 'é'",
    "a sub with a control character": "id = 'a' || char(10)",
}


@pytest.mark.parametrize("change", NOBODY.values(), ids=NOBODY)
async def test_row_without_sub_or_name_is_not_a_user(
    service: RunningService, database: Database, change: str
) -> None:
    await database.execute(f"UPDATE people SET {change} WHERE id = '2'")  # noqa: S608
    listed = await service.features.shared.users.list_users("", 10)
    assert [user.username for user in listed] == ["Alice", "carol"]
    assert (await sign_in(service, "bob")).refusal == WRONG
    assert (await sign_in(service, "alice")).status == 200
