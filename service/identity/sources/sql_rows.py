"""Makes users of the rows of a database, whose types differ from driver to driver."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, cast

from service.model.user import User
from service.protocol.claims import find_expected_type
from service.protocol.json_input import parse_json

CLAIMS = "claims"
"""The column that is a JSON object of claims."""

_FACTS = ("sub", "username", "password", "enabled")
_TRUE, _FALSE = {"1", "t", "true", "y", "yes"}, {"", "0", "f", "false", "n", "no"}


def user_of(row: Mapping[str, object]) -> User:
    """Return the user of a row; ValueError or KeyError if a column is missing or makes no sense."""
    sub, username, password = row["sub"], row["username"], row["password"]
    if sub is None or username is None:
        raise ValueError("users.sql: sub or username of a user is NULL")
    return User(
        sub=str(sub),
        username=str(username),
        password=None if password is None else _text(password),
        enabled=_truth(row["enabled"]),
        claims=dict(_claims(row)),
    )


def _claims(row: Mapping[str, object]) -> Mapping[str, Any]:
    """Return every further column that is not NULL, and the members of the JSON object."""
    claims: dict[str, object] = {}
    for name, value in row.items():
        if name == CLAIMS and value is not None:
            members = value if isinstance(value, dict) else parse_json(_text(value))
            claims |= cast("dict[str, object]", members)
        elif name not in _FACTS and value is not None:
            claims[name] = _claim(name, value)
    return claims


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
        raise ValueError("users.sql: a column is neither true nor false")
    return word in _TRUE


def _is_json(value: object) -> bool:
    return isinstance(value, str | int | float | list | dict)


def _text(value: object) -> str:
    if isinstance(value, memoryview):
        return value.tobytes().decode()
    return value.decode() if isinstance(value, bytes | bytearray) else str(value)
