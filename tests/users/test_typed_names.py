"""A name that a database does not take is a person's mistake: it never counts as an absence of the database."""

from __future__ import annotations

from typing import Any

import pytest
from structlog.testing import capture_logs

from service.events.users import LoginFailed
from service.identity.sources.guarded_requests import TOLERATED
from tests.driving.service import RunningService
from tests.users.database import Database
from tests.users.test_sql_users import WRONG, sign_in

pytestmark = pytest.mark.usefixtures("one_store", "never_probing")

AWAY = (503, "temporarily_unavailable")
UNUSUAL = ["😀", "ÿ", "groß😀", "\u0600", "a" * 254, "%s", "{}", ":x", "\\", "'", '"']


@pytest.fixture
def config(database: Database) -> dict[str, Any]:
    return database.configuration()


async def fail_by(service: RunningService, *names: str) -> None:
    for name in names:
        assert (await sign_in(service, name, "hunter2")).refusal == WRONG


@pytest.mark.parametrize("name", UNUSUAL)
async def test_unknown_name_is_a_failed_login_and_affects_no_other_user(
    service: RunningService, events: list[object], name: str
) -> None:
    await fail_by(service, *([name] * (TOLERATED + 1)))
    failed = [event for event in events if isinstance(event, LoginFailed)]
    assert [event.reason for event in failed] == ["unknown"] * (TOLERATED + 1)
    assert (await sign_in(service, "alice")).status == 200


class TestColumnsThatDoNotTakeEveryLetter:
    """Columns and databases of an older time."""

    @pytest.fixture
    async def database(self, database: Database) -> Database:
        if database.url.startswith("mysql"):
            await database.execute(
                "ALTER TABLE people MODIFY login VARCHAR(100) CHARACTER SET utf8mb3,"
                " MODIFY mail VARCHAR(100) CHARACTER SET utf8mb3"
            )
        return database

    @pytest.fixture
    def config(self, config: dict[str, Any], database: Database) -> dict[str, Any]:
        if database.url.startswith("postgresql"):
            config["users"]["sql"]["queries"] = {
                "by_username": "SELECT id AS sub, login AS username, secret AS password, active AS enabled FROM"
                " people WHERE LOWER(login) = convert_from(convert_to(:username, 'LATIN1'), 'UTF8')"
            }
        return config

    @pytest.mark.parametrize("name", ["😀", "ali😀ce", "\U00010400"])
    async def test_name_that_the_column_does_not_take_is_a_failed_login_and_throttled(
        self, service: RunningService, database: Database, events: list[object], name: str
    ) -> None:
        with capture_logs() as logged:
            await fail_by(service, *([name] * (TOLERATED + 1)))
        failed = [event for event in events if isinstance(event, LoginFailed)]
        assert [event.reason for event in failed] == ["unknown"] * (TOLERATED + 1)
        takes_all = database.url.startswith("sqlite")
        assert ("no usable answer" in str(logged)) is not takes_all
        assert name not in str(logged)
        assert (await sign_in(service, "alice")).status == 200
        assert (await service.features.shared.users.by_email(f"{name}@example.com")) is None


async def test_mistake_of_the_operator_is_503_for_everybody_with_its_cause_in_the_log(
    service: RunningService, database: Database, events: list[object]
) -> None:
    await database.execute("ALTER TABLE people RENAME COLUMN login TO name")
    with capture_logs() as logged:
        for _ in range(TOLERATED + 1):
            assert (await sign_in(service, "alice")).refusal == AWAY
    assert not any(isinstance(event, LoginFailed) for event in events)
    assert "login" in str(logged)
    assert "alice" not in str(logged)
    await database.execute("ALTER TABLE people RENAME COLUMN name TO login")
    assert (await sign_in(service, "alice")).status == 200
