"""A database behind PgBouncer, and one whose tables change while the service runs."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.driving.database_servers import DatabaseServer, PgBouncer, PostgresServer
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService
from tests.users.database import SETTINGS, Database
from tests.users.test_sql_users import sign_in

pytestmark = [
    pytest.mark.usefixtures("one_store", "never_probing"),
    pytest.mark.needs("postgres", "initdb"),
]

Servers = dict[type[DatabaseServer], DatabaseServer]


@pytest.fixture
async def database(servers: Servers) -> Database:
    database = Database(servers[PostgresServer].url)
    await database.fill()
    return database


@pytest.fixture
def config(database: Database) -> dict[str, Any]:
    sql = {**deepcopy(SETTINGS), "url": database.url, "writable": True, "pool_size": 10}
    return fresh_configuration() | {"users": {"source": "sql", "sql": sql, "timeout": "30s"}}


async def introspect(service: RunningService, token: str, *, times: int) -> Counter[int]:
    """Return how often each status came."""
    answers = await asyncio.gather(*(service.introspect(token) for _ in range(times)))
    return Counter(answer.status for answer in answers)


CHANGES = {
    "a wider column": "ALTER TABLE people ALTER full_name TYPE VARCHAR(300)",
    "another type": "ALTER TABLE people ALTER full_name TYPE TEXT",
    "a new column": "ALTER TABLE people ADD nickname TEXT",
    "a new table": "CREATE TABLE copy AS SELECT * FROM people; DROP TABLE people; ALTER TABLE copy RENAME TO people",
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=list(CHANGES))
async def test_table_that_changes_costs_no_request(
    service: RunningService, database: Database, change: str
) -> None:
    token = (await sign_in(service, "alice"))["access_token"]
    assert await introspect(service, token, times=30) == {200: 30}
    with capture_logs() as logged:
        for statement in change.split(";"):
            await database.execute(statement)
        assert await introspect(service, token, times=30) == {200: 30}
    assert not [line for line in logged if line["event"].startswith("users.source")]


class TestPgBouncer:
    """PgBouncer in transaction mode: each question may go to another connection of the database."""

    pytestmark = pytest.mark.needs("pgbouncer")

    @pytest.fixture
    def bouncer(self, servers: Servers) -> Iterator[PgBouncer]:
        behind = servers[PostgresServer]
        assert isinstance(behind, PostgresServer)
        with PgBouncer(behind=behind) as bouncer:
            yield bouncer

    @pytest.fixture
    def config(self, config: dict[str, Any], bouncer: PgBouncer) -> dict[str, Any]:
        config["users"]["sql"]["url"] = f"{bouncer.url}&prepared_statement_cache_size=0"
        return config

    async def test_no_request_fails(self, service: RunningService) -> None:
        token = (await sign_in(service, "alice"))["access_token"]
        users = service.features.shared.users
        for _ in range(4):
            statuses, *_ = await asyncio.gather(
                introspect(service, token, times=60),
                *(users.by_username(name) for name in ("bob", "groß", "alice") for _ in range(5)),
                *(users.set_enabled("3", enabled=False) for _ in range(5)),
            )
            assert statuses == {200: 60}
        assert users.failures == 0
