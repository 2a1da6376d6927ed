"""Writes users: as YAML, or, where they are many, as SQL for PostgreSQL and SQLite, and their second factors as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import IO, Self, cast

import msgspec

from service.model.tenant import CLAIM as TENANT
from service.model.user import fold_username
from service.takeover.folder import NewFolder
from service.takeover.found import Entry, FoundUser, SecretText
from service.takeover.yaml_text import write_section

MAX_IN_YAML = 10_000
"""Users that are written as YAML."""
_ROWS = 500
"""Rows of one statement."""
_TABLES = """\
-- Users, for PostgreSQL and SQLite: psql -f users.sql, or sqlite3 users.db < users.sql
BEGIN;
CREATE TABLE users (
  sub TEXT PRIMARY KEY,
  username TEXT NOT NULL UNIQUE,
  password TEXT,
  enabled BOOLEAN NOT NULL,
  email TEXT,
  claims TEXT NOT NULL
);
CREATE INDEX users_email ON users (email);
CREATE TABLE identities (
  identity_provider TEXT NOT NULL,
  identity_subject TEXT NOT NULL,
  sub TEXT NOT NULL REFERENCES users (sub),
  PRIMARY KEY (identity_provider, identity_subject)
);
"""
_INSERT_USERS = "INSERT INTO users (sub, username, password, enabled, email, claims) VALUES"
_INSERT_IDENTITIES = "INSERT INTO identities (identity_provider, identity_subject, sub) VALUES"
_SELECT = "SELECT sub, username, password, enabled, email, claims FROM users WHERE "
_BY_ADDRESS = (
    " OR email = :username AND NOT EXISTS (SELECT 1 FROM users u WHERE u.username = :username)"
)
_QUERIES = {
    "by_subject": f"{_SELECT}sub = :sub",
    "by_email": f"{_SELECT}email = :email",
    "by_identity": "SELECT u.sub, username, password, enabled, email, claims, identity_provider, identity_subject "
    "FROM users u JOIN identities i ON i.sub = u.sub "
    "WHERE identity_provider = :provider AND identity_subject = :subject",
    "list_users": f"{_SELECT}username LIKE :prefix ESCAPE '!' ORDER BY username LIMIT :limit",
    "replace_password": "UPDATE users SET password = :password WHERE sub = :sub AND password = :old",
    "set_enabled": "UPDATE users SET enabled = :enabled WHERE sub = :sub",
}
_DATABASE = "${USERS_DATABASE:-sqlite+aiosqlite:///users.db}"


def sql_settings(*, by_address: bool) -> Iterator[str]:
    """Yield the lines of config.yaml for these tables; `by_address`: users may sign in by their e-mail address, too."""
    by_username = f"{_SELECT}username = :username{_BY_ADDRESS if by_address else ''}"
    yield "users:"
    yield "  source: sql"
    yield "  sql:"
    yield "    # For example postgresql+asyncpg://name@host/database"
    yield f'    url: "{_DATABASE}"'
    yield "    queries:"
    for name, query in sorted({**_QUERIES, "by_username": by_username}.items()):
        yield f'      {name}: "{query}"'


class WrittenUsers(msgspec.Struct, frozen=True):
    """The files that users were written to."""

    in_yaml: bool = False
    in_sql: bool = False


def write_users(folder: NewFolder, users: Iterator[FoundUser], rp_id: str | None) -> WrittenUsers:
    """Write all users, few as YAML and many as SQL, and their second factors."""
    with _FactorsFile(folder, rp_id) as factors:
        passing = factors.note(users)
        first = list(islice(passing, MAX_IN_YAML + 1))
        if len(first) > MAX_IN_YAML:
            _write_sql(folder, chain(first, passing))
            return WrittenUsers(in_sql=True)
    if not first:
        return WrittenUsers()
    entries = [Entry(user.place, user.entry) for user in first]
    with folder.open("users.yaml") as file:
        file.write("users:\n")
        lines = write_section("list", entries, folder.keep_secret, "  ")
        file.writelines(f"{line}\n" for line in lines)
    return WrittenUsers(in_yaml=True)


class _FactorsFile:
    """The file of second factors, which is there once somebody has one."""

    def __init__(self, folder: NewFolder, rp_id: str | None) -> None:
        self._folder, self._rp_id = folder, rp_id
        self._file: IO[str] | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            self._file.write("\n]}\n")
            self._file.close()

    def note(self, users: Iterator[FoundUser]) -> Iterator[FoundUser]:
        """Yield the users, and write the factors of each."""
        for user in users:
            if user.factors:
                self._write(user)
            yield user

    def _write(self, user: FoundUser) -> None:
        begin = ",\n"
        if self._file is None:
            self._file = self._folder.open("factors.json")
            rp_id = f'"rp_id": {json.dumps(self._rp_id)}, ' if self._rp_id else ""
            begin = f'{{"version": 1, {rp_id}"users": [\n'
        written = {"sub": user.entry["sub"], **user.factors}
        encoded = msgspec.json.encode(self._refer(written))
        self._file.write(begin + encoded.decode())

    def _refer(self, value: object) -> object:
        """Return the value with references to files in place of secrets."""
        if isinstance(value, SecretText):
            return f"${{file:{self._folder.keep_secret(value.text)}}}"
        if isinstance(value, Mapping):
            members = cast("Mapping[str, object]", value).items()
            return {key: self._refer(each) for key, each in members}
        if isinstance(value, list):
            return [self._refer(each) for each in cast("list[object]", value)]
        return value


def _write_sql(folder: NewFolder, users: Iterator[FoundUser]) -> None:
    with folder.open("users.sql") as file:
        file.write(_TABLES)
        while batch := [*islice(users, _ROWS)]:
            identities = [row for user in batch for row in _identities(user)]
            for begin, rows in (
                (_INSERT_USERS, map(_row, batch)),
                (_INSERT_IDENTITIES, identities),
            ):
                listed = ",\n".join(rows)
                file.write(f"{begin}\n{listed};\n" if listed else "")
        file.write("COMMIT;\n")


def _identities(user: FoundUser) -> Iterator[str]:
    for each in cast("list[Mapping[str, object]]", user.entry.get("identities") or ()):
        yield _tuple(each["provider"], each["subject"], user.entry["sub"])


def _row(user: FoundUser) -> str:
    entry = user.entry
    claims = dict(cast("dict[str, object]", entry.get("claims") or {}))
    if "tenant" in entry:
        claims.setdefault(TENANT, entry["tenant"])
    email = claims.get("email")
    return _tuple(
        entry["sub"],
        fold_username(str(entry["username"])),
        entry.get("password"),
        bool(entry.get("enabled", True)),
        fold_username(email) if isinstance(email, str) and "\0" not in email else None,
        msgspec.json.encode(claims).decode(),
    )


def _tuple(*values: object) -> str:
    return f"({', '.join(map(_literal, values))})"


def _literal(value: object) -> str:
    """Return a value as SQL writes it; in single quotes only these mean something (SQL:2016 §5.3)."""
    if value is None or isinstance(value, bool):
        return {None: "NULL", True: "TRUE", False: "FALSE"}[value]
    doubled = str(value).replace("'", "''")
    return f"'{doubled}'"
