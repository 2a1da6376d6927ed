"""A database with a table of people, as an application may have made it."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import create_async_engine

from tests.driving.registry import fresh_configuration, password_of

TABLE = """
CREATE TABLE people (
  id VARCHAR(100) PRIMARY KEY, login VARCHAR(100), secret VARCHAR(500), active BOOLEAN,
  full_name VARCHAR(100), mail VARCHAR(100), confirmed BOOLEAN, changed TIMESTAMP, height DECIMAL(5, 2))
"""
CHANGED = datetime(2026, 11, 1, 12, 0, tzinfo=UTC)
SETTINGS: dict[str, Any] = {
    "table": "people",
    "columns": {"sub": "id", "username": "login", "password": "secret", "enabled": "active"},
    "claims": {
        "name": "full_name",
        "email": "mail",
        "email_verified": "confirmed",
        "updated_at": "changed",
        "height": "height",
    },
}
"""The block `users.sql` for that table, without its URL."""


@dataclass(frozen=True, slots=True)
class Database:
    """A database that a test may change behind the service's back."""

    url: str

    def configuration(self) -> dict[str, Any]:
        """Return the usual configuration, with the people of this database as its users."""
        sql = {**deepcopy(SETTINGS), "url": self.url, "writable": True}
        return fresh_configuration() | {"users": {"source": "sql", "sql": sql, "timeout": "30s"}}

    async def fill(self) -> None:
        """Make the table anew, with alice, bob and the disabled carol."""
        await self.execute("DROP TABLE IF EXISTS people")
        await self.execute(TABLE)
        for sub, login, active in (("1", "Alice", True), ("2", "bob", True), ("3", "carol", False)):
            await self.add(sub, login, active=active)

    async def add(self, sub: str, login: str, *, active: bool = True) -> None:
        """Add a person with the usual password."""
        name = login.lower()
        await self.execute(
            "INSERT INTO people VALUES (:sub, :login, :secret, :active, :full_name, :mail, :confirmed,"
            " '2026-11-01 12:00:00', 1.75)",  # written out, as the drivers take times in different types
            sub=sub,
            login=login,
            secret=password_of(name),
            active=active,
            full_name=f"{login} Smith",
            mail=f"{name}@example.com",
            confirmed=name == "alice",
        )

    async def execute(self, query: str, **values: object) -> list[tuple[Any, ...]]:
        """Execute a statement, and return its rows."""
        engine = create_async_engine(self.url, isolation_level="AUTOCOMMIT")
        try:
            async with engine.connect() as connection:
                result = await connection.execute(text(query), values)
                return [tuple(row) for row in result] if result.returns_rows else []
        finally:
            await engine.dispose()
