"""What type is a standard claim of? (OIDC Core §5.1)"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import cast

ADDRESS_MEMBERS = frozenset(
    {"formatted", "street_address", "locality", "region", "postal_code", "country"}
)
"""All of them strings (OIDC Core §5.1.1)."""


def _is_string(value: object) -> bool:
    return isinstance(value, str)


def _is_boolean(value: object) -> bool:
    return isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_address(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    members = cast("dict[str, object]", value)
    return all(isinstance(members[name], str) for name in ADDRESS_MEMBERS & members.keys())


_STRING = (_is_string, "a string")
_BOOLEAN = (_is_boolean, "true or false")

_TYPES: Mapping[str, tuple[Callable[[object], bool], str]] = {
    "name": _STRING,
    "given_name": _STRING,
    "family_name": _STRING,
    "middle_name": _STRING,
    "nickname": _STRING,
    "preferred_username": _STRING,
    "profile": _STRING,
    "picture": _STRING,
    "website": _STRING,
    "email": _STRING,
    "email_verified": _BOOLEAN,
    "gender": _STRING,
    "birthdate": _STRING,
    "zoneinfo": _STRING,
    "locale": _STRING,
    "phone_number": _STRING,
    "phone_number_verified": _BOOLEAN,
    "address": (_is_address, "an object whose members such as locality are strings"),
    "updated_at": (_is_number, "a number of seconds"),
}


def type_missed(name: str, value: object) -> str | None:
    """What a standard claim ought to be, in any language, where it is something else."""
    known = _TYPES.get(name.partition("#")[0])
    if known is None or value is None:
        return None
    is_right, what = known
    return None if is_right(value) else what
