"""Users of another system that a test can switch off, and real databases."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.driving.database_servers import DatabaseServer, MariaServer, PostgresServer
from tests.driving.service import RunningService
from tests.users.database import Database
from tests.users.switched import SwitchedUsers


@pytest.fixture
def store(service: RunningService) -> SwitchedUsers:  # noqa: ARG001 - which has made it
    """The source of the service's users."""
    return SwitchedUsers.made[-1]


@pytest.fixture(scope="session")
def servers() -> Iterator[dict[type[DatabaseServer], DatabaseServer]]:
    """The database servers of this run, each started when it is first needed."""
    with ExitStack() as stack:
        yield _Started(stack)


class _Started(dict[type[DatabaseServer], DatabaseServer]):
    def __init__(self, stack: ExitStack) -> None:
        super().__init__()
        self._stack = stack

    def __missing__(self, kind: type[DatabaseServer]) -> DatabaseServer:
        self[kind] = self._stack.enter_context(kind())
        return self[kind]


@pytest.fixture(
    params=[
        "sqlite",
        pytest.param(
            PostgresServer, marks=pytest.mark.needs("postgres", "initdb"), id="postgresql"
        ),
        pytest.param(MariaServer, marks=pytest.mark.needs("mariadbd"), id="mariadb"),
    ]
)
async def database(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    servers: dict[type[DatabaseServer], DatabaseServer],
) -> Database:
    """A database with people, of each kind."""
    is_file = request.param == "sqlite"
    url = f"sqlite+aiosqlite:///{tmp_path}/people.db" if is_file else servers[request.param].url
    database = Database(url)
    await database.fill()
    return database
