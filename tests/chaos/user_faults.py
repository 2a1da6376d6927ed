"""Faults of the system that users come from, while the store and the replicas are well."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path

from tests.chaos.stage import Stage
from tests.chaos.stores import one_redis
from tests.driving.database_servers import PostgresServer
from tests.driving.slapd import Slapd, directory, person
from tests.users.database import SETTINGS, Database

FROZEN = 3
"""Seconds."""


@dataclass(frozen=True)
class PeopleInPostgres:
    """A Redis, and a PostgreSQL with the people."""

    url: str
    database: PostgresServer

    @property
    def users(self) -> Mapping[str, object]:
        """The section `users` of the configuration."""
        sql = {**deepcopy(SETTINGS), "url": self.database.url}
        return {"source": "sql", "timeout": "1s", "sql": sql}


@contextmanager
def people_in_postgres(folder: Path) -> Iterator[PeopleInPostgres]:
    """Both, with alice and bob."""
    with one_redis(folder) as redis, PostgresServer() as database:
        asyncio.run(Database(database.url).fill())
        yield PeopleInPostgres(redis.url, database)


async def database_killed(stage: Stage[PeopleInPostgres]) -> None:
    """PostgreSQL dies with all its connections, and comes back."""
    database = stage.store.database
    with stage.fault.lasting():
        database.kill()
        await stage.hold()
        await asyncio.to_thread(database.start)


async def database_frozen(stage: Stage[PeopleInPostgres]) -> None:
    """PostgreSQL keeps its connections and says nothing."""
    with stage.fault.lasting():
        stage.store.database.freeze()
        try:
            await asyncio.sleep(FROZEN)
        finally:
            stage.store.database.thaw()


@dataclass(frozen=True)
class PeopleInDirectory:
    """A Redis, and a directory with the people."""

    url: str
    directory: Slapd

    @property
    def users(self) -> Mapping[str, object]:
        """The section `users` of the configuration."""
        return {"source": "ldap", "timeout": "1s", "ldap": self.directory.settings}


@contextmanager
def people_in_directory(folder: Path) -> Iterator[PeopleInDirectory]:
    """Both, with alice."""
    with one_redis(folder) as redis, Slapd(folder / "slapd", directory(person("alice"))) as slapd:
        yield PeopleInDirectory(redis.url, slapd)


async def directory_killed(stage: Stage[PeopleInDirectory]) -> None:
    """The LDAP server dies with all its connections, and comes back."""
    with stage.fault.lasting():
        stage.store.directory.kill()
        await stage.hold()
        await asyncio.to_thread(stage.store.directory.start)


async def directory_frozen(stage: Stage[PeopleInDirectory]) -> None:
    """The LDAP server keeps its connections and says nothing."""
    with stage.fault.lasting():
        stage.store.directory.freeze()
        try:
            await asyncio.sleep(FROZEN)
        finally:
            stage.store.directory.thaw()
