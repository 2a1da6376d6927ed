"""A question to an SQLite that an application has locked ends with the lock, and holds none of its own."""

from __future__ import annotations

import asyncio
import gc
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.driving.service import RunningService
from tests.users.database import Database
from tests.users.test_sql_users import sign_in

pytestmark = pytest.mark.usefixtures("one_store")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "people.db"


@pytest.fixture
async def config(file: Path) -> dict[str, Any]:
    database = Database(f"sqlite+aiosqlite:///{file}")
    await database.fill()
    configuration = database.configuration()
    configuration["users"]["timeout"] = "5s"
    return configuration


@pytest.fixture
def no_garbage_collection() -> Iterator[None]:
    """A process at rest collects no garbage for a long time."""
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("no_garbage_collection")
async def test_application_writes_to_its_users_after_it_had_locked_them(
    service: RunningService, file: Path
) -> None:
    application = sqlite3.connect(file, timeout=10, isolation_level=None)
    application.execute("BEGIN EXCLUSIVE")
    refused = await sign_in(service, "alice")
    assert refused.refusal == (503, "temporarily_unavailable")
    # An answer that refuses the name could become a wrong user name.
    assert refused["error_description"] == "the user directory cannot be reached"
    application.execute("ROLLBACK")
    await asyncio.sleep(1)  # whoever still waits gets the lock
    application.execute("UPDATE people SET full_name = 'Alicia' WHERE id = '1'")
    application.close()
    assert (await sign_in(service, "alice")).status == 200
