"""Makes users of the rows of a database, whose types differ from driver to driver."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import partial
from typing import Any, TypeVar, cast

import msgspec
import structlog

from service.model.user import User
from service.protocol.claims import find_expected_type
from service.protocol.json_input import parse_json

log = structlog.stdlib.get_logger(__name__)

CLAIMS = "claims"
"""The column that is a JSON object of claims."""

_FACTS = ("sub", "username", "password", "enabled", "identity_provider", "identity_subject")
_BPCHAR = 1042
"""PostgreSQL's number of the type CHAR(n), of which it returns n letters; other databases drop the spaces."""

_TRUE, _FALSE = {"1", "t", "true", "y", "yes"}, {"", "0", "f", "false", "n", "no"}


Value = TypeVar("Value")


class Answer(msgspec.Struct, frozen=True):
    """An answer of a database, read when its connection is free again."""

    rows: Sequence[Mapping[str, Any]]
    count: int
    """How many rows it has found, or changed."""


def answer_of(result: Any) -> Answer:
    """Return the rows of SQLAlchemy's CursorResult by the names of their columns, without the padding of the type CHAR."""
    if not result.returns_rows:
        return Answer((), result.rowcount)
    padded = {column[0] for column in result.cursor.description or () if column[1] == _BPCHAR}
    rows = [
        {str(name): _unpad(value) if name in padded else value for name, value in row.items()}
        for row in result.mappings()
    ]
    return Answer(rows, len(rows))


def _unpad(value: object) -> object:
    return value.rstrip(" ") if isinstance(value, str) else value


def users_of(rows: Iterable[Mapping[str, object]]) -> list[User]:
    """Return the users of the rows; one that has no sub or name is left out. KeyError if a column is missing."""
    return [user for row in rows if (user := _user_of(row)) is not None]


def _user_of(row: Mapping[str, object]) -> User | None:
    """Return the user, disabled where a column makes no sense; None where the row names nobody."""
    sub, username = row["sub"], row["username"]
    if sub is None or username is None:
        log.warning("a row of users.sql is left out: its sub or username is NULL", sub=sub)
        return None
    try:
        return User(
            sub=str(sub),
            username=str(username),
            password=_read(row, "password", _hash),
            enabled=_read(row, "enabled", _truth),
            claims=_claims(row),
        )
    except _Unreadable as column:
        log.warning(
            "a user of users.sql is disabled: a column of the row cannot be read",
            sub=str(sub),
            column=str(column),
        )
        return User(sub=str(sub), username=str(username), enabled=False)


class _Unreadable(Exception):
    """A column has a value that makes no sense; the message is its name, because the value may be a secret."""


def _read(row: Mapping[str, object], name: str, read: Callable[[object], Value]) -> Value:
    try:
        return read(row[name])
    except (ValueError, TypeError, OverflowError):
        raise _Unreadable(name) from None


def _hash(value: object) -> str | None:
    return None if value is None else _text(value)


def _claims(row: Mapping[str, object]) -> dict[str, Any]:
    """Return every further column that is not NULL, and the members of the JSON object."""
    claims: dict[str, object] = {}
    for name, value in row.items():
        if name == CLAIMS and value is not None:
            claims |= _read(row, name, _members)
        elif name not in _FACTS and value is not None:
            claims[name] = _read(row, name, partial(_claim, name))
    return claims


def _members(value: object) -> Mapping[str, object]:
    """Return the members of a JSON object; ValueError or TypeError for anything else."""
    members: object = value
    if not isinstance(value, dict):
        members = parse_json(_text(value))
    if not isinstance(members, dict):
        raise TypeError("is no JSON object")
    return cast("Mapping[str, object]", members)


def _claim(name: str, value: object) -> object:
    """Return a value as JSON has it, and a standard claim as clients expect it (OIDC Core §5.1)."""
    expected = find_expected_type(name, value)
    if expected == "true or false":
        return _truth(value)
    if isinstance(value, datetime | str) and expected == "a number of seconds":
        return _seconds(value)
    if isinstance(value, date | time):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == int(value) else float(value)
    return value if _is_json(value) else _text(value)


def _seconds(value: datetime | str) -> int:
    """Return the time in seconds; SQLite keeps it as a text. Without a time zone it is UTC."""
    at = datetime.fromisoformat(value) if isinstance(value, str) else value
    return int((at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp())


def _truth(value: object) -> bool:
    """Return what a column means that some databases have no type for; NULL is false."""
    if isinstance(value, bytes):  # BIT(1) of MySQL
        return any(value)
    if not isinstance(value, str):
        return bool(value)
    word = value.strip().lower()
    if word not in _TRUE | _FALSE:
        raise ValueError("a column is neither true nor false")
    return word in _TRUE


def _is_json(value: object) -> bool:
    return isinstance(value, str | int | float | list | dict)


def _text(value: object) -> str:
    if isinstance(value, memoryview):
        return value.tobytes().decode()
    return value.decode() if isinstance(value, bytes | bytearray) else str(value)
