"""A name, `sub` or identity of several rows is nobody's, and the log says so once (people.md)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.driving.service import RunningService
from tests.users.database import Database
from tests.users.test_sql_users import WRONG, sign_in

pytestmark = pytest.mark.usefixtures("one_store")


@pytest.fixture
def config(database: Database) -> dict[str, Any]:
    return database.configuration()


async def warned_of(asking: Callable[[], Awaitable[object]]) -> str:
    """Return what the only warning calls the thing that several rows have; it has no value of theirs and no trace."""
    with capture_logs() as logged:
        await asking()
    (warned,) = [line for line in logged if line["log_level"] in {"warning", "error"}]
    assert "bob" not in str(warned)
    assert "UNIQUE" in warned["remedy"]
    return str(warned["same"])


async def test_name_of_several_rows_is_refused(service: RunningService, database: Database) -> None:
    await database.add("4", "BOB")

    async def refused() -> None:
        assert (await sign_in(service, "bob")).refusal == WRONG

    assert await warned_of(refused) == "user name"
    assert (await sign_in(service, "alice")).status == 200


async def test_sub_of_several_rows_makes_tokens_inactive_until_it_is_of_one(
    service: RunningService, database: Database
) -> None:
    token = (await sign_in(service, "bob"))["access_token"]
    await database.execute("DROP TABLE IF EXISTS people_once")
    await database.execute("CREATE TABLE people_once AS SELECT * FROM people")
    await database.execute("DROP TABLE people")
    await database.execute("CREATE TABLE people AS SELECT * FROM people_once")
    await database.execute("INSERT INTO people SELECT * FROM people_once WHERE id = '2'")

    async def inactive() -> None:
        assert not await service.is_active(token)

    assert await warned_of(inactive) == "sub"
    await database.execute("DELETE FROM people WHERE id = '2'")
    await database.execute("INSERT INTO people SELECT * FROM people_once WHERE id = '2'")
    assert await service.is_active(token)
