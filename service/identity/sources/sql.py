"""Users of an SQL database, by SQLAlchemy: any that has an asynchronous driver."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast
from uuid import UUID

import structlog
from sqlalchemy import URL, TextClause, bindparam, exc, make_url, text
from sqlalchemy.ext.asyncio import AsyncEngine, create_async_engine

from service.config.problem import Finding
from service.config.schema.users import SqlUsers, Users
from service.identity.sources import Tools, missing_extra
from service.identity.sources.several import find_only
from service.identity.sources.sql_queries import (
    BY_IDENTITY,
    LISTS,
    PREFIXES,
    PROVIDER,
    SUBJECT,
    build_queries,
)
from service.identity.sources.sql_rows import Answer, answer_of, users_of
from service.identity.sources.sql_spellings import spell
from service.model.user import Several, User, UsersUnavailable, ValueRefused, fold_username

log = structlog.stdlib.get_logger(__name__)

_BLOCK = ("users", "sql")
_URL = (*_BLOCK, "url")
_NEEDED: Mapping[str, Sequence[str]] = {
    "by_subject": ("sub",),
    "by_username": ("username", "usernames"),
    "by_email": ("email", "emails"),
    "by_identity": ("subject",),
}
"""By the names of queries: the parameters of which each has one."""

_BYTES = re.compile(r"\\[xuU]|0x")
"""How databases show letters that they do not take."""

_ONE_ROW = "let only one row of users.sql have it, such as by a UNIQUE index, or let the query return only one"
"""The remedy where several rows fit."""

_EXAMPLE = "write it as postgresql+asyncpg://name:password@host/database"
_FILE_EXAMPLE = "write it as sqlite+aiosqlite:////folder/file.db"


def find_problems(settings: Users) -> Iterator[Finding]:
    """Yield what is wrong with the block, its URL or the installed drivers."""
    block = settings.sql
    if block is None:
        yield Finding(("users", "source"), "sql needs the block users.sql")
        return
    yield from _find_problems_of_queries(block)
    yield from _find_problems_of_url(block)


def _find_problems_of_queries(block: SqlUsers) -> Iterator[Finding]:
    if block.table is None and not (block.queries.by_subject and block.queries.by_username):
        yield Finding(_BLOCK, "needs a table, or the queries by_subject and by_username")
    if block.table is None and block.identities:
        message = "needs a table; the query by_identity finds users without it"
        yield Finding((*_BLOCK, "identities"), message)
    if block.table is None and block.writable:
        yield Finding((*_BLOCK, "writable"), "needs a table; queries can write without it")
    for name, query in build_queries(block).items():
        needed = _NEEDED.get(name, ())
        if needed and not _parameters_of(text(query)) & set(needed):
            message = f"has no parameter :{' or :'.join(needed)}"
            yield Finding((*_BLOCK, "queries", name), message)


def _find_problems_of_url(block: SqlUsers) -> Iterator[Finding]:
    try:
        url = make_url(block.url)
        dialect = url.get_dialect()
        dialect.import_dbapi()
    except ModuleNotFoundError as error:
        yield missing_extra("sql", error)
    except (exc.ArgumentError, ValueError):
        yield Finding(_URL, "is not a database URL", _EXAMPLE)
    else:
        if not dialect.is_async:
            message = f"{dialect.name}+{dialect.driver} is no asynchronous driver"
            is_file = dialect.name == "sqlite"
            yield Finding(_URL, message, _FILE_EXAMPLE if is_file else _EXAMPLE)
        if url.password is not None and block.password is not None:
            message = "users.sql.url has one too"
            yield Finding((*_BLOCK, "password"), message, "take one of them out")


def open_source(settings: Users, _: Tools) -> SqlUserStore:
    """Return the users of the database; nothing is connected yet."""
    block = settings.sql
    assert block is not None  # noqa: S101 - else there would be a problem
    logging.getLogger("asyncmy").setLevel(logging.ERROR)  # its warnings repeat values
    url = make_url(block.url)
    if block.password is not None:
        url = url.set(password=block.password)
    engine = create_async_engine(
        url,
        connect_args=_find_options(url, settings.timeout),
        isolation_level="AUTOCOMMIT",  # one query each: nothing to begin, to commit or to roll back
        pool_reset_on_return=None,
        pool_size=block.pool_size,
        max_overflow=block.max_overflow,
        pool_timeout=settings.timeout,
        pool_recycle=block.pool_recycle,
        hide_parameters=True,
    )
    return SqlUserStore(engine, block)


def _find_options(url: URL, timeout: float) -> dict[str, object]:
    """Return the options of the driver that are not in the URL."""
    if url.get_backend_name() == "sqlite" and "timeout" not in url.query:
        # A question that is cancelled while it waits for a lock has one afterwards, until it is collected as garbage.
        return {"timeout": timeout / 2}
    if url.query.get("prepared_statement_cache_size") == "0":
        # Else asyncpg gives statements names, which a pool of connections such as PgBouncer mixes up.
        return {"statement_cache_size": 0}
    return {}


class SqlUserStore:
    """A UserStore whose users are rows of a table, or of the operator's queries."""

    def __init__(self, engine: AsyncEngine, settings: SqlUsers) -> None:
        self._engine = engine
        self._queries = {
            name: _expand_lists(text(query)) for name, query in build_queries(settings).items()
        }
        self._sub_type = settings.sub_type
        self._claims = {f"claim_{at}": name for at, name in enumerate(settings.claims)}
        """By the names that they have in the made queries."""

    async def by_subject(self, sub: str) -> User | None:
        """Return the user with exactly this identifier: databases compare 1 and 01, or a and A, as they like."""
        typed = self._to_column_type(sub)
        if typed is None:
            return None
        users = users_of(await self._select("by_subject", sub=typed))
        return find_only([user for user in users if user.sub == sub], "sub", _ONE_ROW)

    async def by_username(self, username: str) -> User | None:
        """Return the user of a row in which the name stands."""
        folded = fold_username(username)
        rows = await self._select("by_username", username=folded, usernames=spell(username))
        found = users_of([row for row in rows if _has_text(row, folded)])
        return find_only(found, "user name", _ONE_ROW)

    async def by_email(self, email: str) -> User | Several | None:
        """Return the only user with this verified address."""
        if "by_email" not in self._queries:
            return None
        address = fold_username(email)
        rows = await self._select("by_email", email=address, emails=spell(email))
        found = [user for user in users_of(rows) if _has_verified(user, address)]
        if len(found) > 1:
            return "several"
        return found[0] if found else None

    async def by_identity(self, provider: str, subject: str) -> User | None:
        """Return the user of a row that shows exactly this identity: databases compare as they like."""
        name, expected = f"{BY_IDENTITY}{provider}", {SUBJECT: subject}
        if name not in self._queries:
            name, expected = "by_identity", expected | {PROVIDER: provider}
        if name not in self._queries:
            return None
        rows = await self._select(name, provider=provider, subject=subject)
        shown = [row for row in rows if {each: str(row[each]) for each in expected} == expected]
        return find_only(users_of(shown), "identity", _ONE_ROW)

    async def list_users(self, prefix: str, limit: int) -> Sequence[User]:
        """Return the first users by name whose name begins with this; none where no query finds them."""
        if "list_users" not in self._queries:
            raise NotImplementedError("users.sql has neither a table nor the query list_users")
        folded = fold_username(prefix)
        spellings = (folded, *spell(folded))
        likes = {
            name: f"{_escape(spellings[min(at, len(spellings) - 1)])}%"
            for at, name in enumerate(PREFIXES)
        }
        return users_of(await self._select("list_users", limit=limit, **likes))

    @property
    def can_replace_passwords(self) -> bool:
        """Whether there is a query for it."""
        return "replace_password" in self._queries

    async def replace_password(self, sub: str, *, old: str, new: str) -> bool:
        """Write a hash, unless another one than `old` is there by now; False where the database is read only."""
        typed = self._to_column_type(sub)
        if typed is None or "replace_password" not in self._queries:
            return False
        return await self._write("replace_password", sub=typed, old=old, password=new) > 0

    async def set_enabled(self, sub: str, *, enabled: bool) -> bool:
        """Disable or enable a user; NotImplementedError where the database is read only."""
        if "set_enabled" not in self._queries:
            raise NotImplementedError(
                "this service may not change users of the database: it needs users.sql.writable: true, and "
                "the name of a column in users.sql.columns.enabled"
            )
        typed = self._to_column_type(sub)
        await self._write("set_enabled", sub=typed, enabled=enabled)
        return await self.by_subject(sub) is not None

    async def close(self) -> None:
        """Close the connections."""
        await self._engine.dispose()

    def _to_column_type(self, sub: str) -> object:
        """Return the identifier as the column's type; None where it cannot be one of that type."""
        try:
            if self._sub_type == "integer":
                return int(sub) if sub.isascii() and len(sub) < 20 else None  # noqa: PLR2004 - of 64 bits
            if self._sub_type == "uuid":
                return UUID(sub) if self._engine.dialect.name == "postgresql" else str(UUID(sub))
        except ValueError:
            return None
        return sub

    async def _select(self, name: str, **values: object) -> Sequence[Mapping[str, Any]]:
        rows = (await self._execute(name, values)).rows
        return [{self._claims.get(name, name): row[name] for name in row} for row in rows]

    async def _write(self, name: str, **values: object) -> int:
        return (await self._execute(name, values)).count

    async def _execute(
        self, name: str, values: Mapping[str, object], *, again: bool = True
    ) -> Answer:
        """Return what the database says; ask once more where the connection was closed, or knew an older table.

        ValueRefused where it answers with an error, UsersUnavailable where it does not answer.
        """
        query = self._queries[name]
        given = {key: values[key] for key in _parameters_of(query) if key in values}
        try:
            async with self._engine.connect() as connection:
                try:
                    return answer_of(await connection.execute(query, given))
                except exc.DBAPIError as error:
                    cause = _describe(error, given)
                    if not again or not _may_succeed_now(error):
                        is_away = error.connection_invalidated or _is_locked(error)
                        raise (UsersUnavailable if is_away else ValueRefused)(cause) from None
        except exc.SQLAlchemyError as error:
            raise UsersUnavailable(_describe(error, given)) from None
        log.info("users.sql is asked once more", cause=cause)
        return await self._execute(name, values, again=False)


def _expand_lists(query: TextClause) -> TextClause:
    """Let the parameters that are lists take as many values as there are."""
    known = _parameters_of(query)
    lists: list[Any] = [bindparam(name, expanding=True) for name in LISTS if name in known]
    return query.bindparams(*lists)


def _parameters_of(query: TextClause) -> frozenset[str]:
    return frozenset(query.compile().params)


def _may_succeed_now(error: exc.DBAPIError) -> bool:
    """Return whether the connection was closed, or has prepared the query before the table was changed."""
    return error.connection_invalidated or isinstance(
        error, exc.NotSupportedError | exc.InternalError
    )


def _is_locked(error: exc.DBAPIError) -> bool:
    """Return whether SQLite has waited for a lock in vain: this does not answer the question, whatever its values."""
    return str(getattr(error.orig, "sqlite_errorname", "")).startswith(
        ("SQLITE_BUSY", "SQLITE_LOCKED")
    )


def _describe(error: exc.SQLAlchemyError, values: Mapping[str, object]) -> str:
    """Return what the database said, for the log; where that may repeat a value, perhaps a password, only its kind and code."""
    cause = getattr(error, "orig", None)
    said = str(cause or error)
    given = [str(value) for value in values.values() if not isinstance(value, tuple)]
    given += [str(one) for name in LISTS for one in cast("Sequence[str]", values.get(name, ()))]
    if not _BYTES.search(said) and not any(value in said for value in given):
        return said
    numbers = (each for each in getattr(cause, "args", ()) if isinstance(each, int))
    code = getattr(cause, "sqlstate", None) or next(numbers, "")
    return f"{type(error).__name__} {code}".rstrip()


def _has_text(row: Mapping[str, object], folded: str) -> bool:
    return any(isinstance(value, str) and fold_username(value) == folded for value in row.values())


def _has_verified(user: User, address: str) -> bool:
    email = user.claims.get("email")
    verified = user.claims.get("email_verified") is True
    return verified and isinstance(email, str) and fold_username(email) == address


def _escape(prefix: str) -> str:
    """Return a text as LIKE takes it with ESCAPE '!'."""
    return prefix.replace("!", "!!").replace("%", "!%").replace("_", "!_")
