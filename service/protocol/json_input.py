"""Reads JSON that others wrote: bounded in depth and, where a policy reads it, with one meaning only (RFC 8259 §4, §6)."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from math import isinf
from typing import cast

import msgspec
import orjson

MAX_DEPTH = 32
"""Objects and arrays within one another; some writers of JSON fail from 254 on."""

LARGEST_INTEGER = 2**53 - 1
"""Larger ones are not the same number for every reader (RFC 7493 §2.2)."""

_LONG_NUMBER = re.compile(rb"[0-9]{16}")
"""Nothing shorter is larger."""


class JsonRefused(ValueError):
    """The text is not JSON that can be accepted; the message continues a sentence about it."""


def parse_json(content: bytes | str) -> object:
    """Return the value; raise JsonRefused for what is not JSON, and for what is nested too deeply."""
    try:
        value: object = orjson.loads(content)
    except orjson.JSONDecodeError as error:
        raise JsonRefused("is not JSON") from error
    if _may_be_deep(content) and _is_deeper(value, MAX_DEPTH):
        raise JsonRefused(f"is nested more than {MAX_DEPTH} levels deep")
    return value


def parse_unambiguous_json(content: bytes | str) -> object:
    """Return the value; raise JsonRefused, too, for what two readers may understand differently.

    That is a member that is sent twice, and a number that is not carried on as it was sent.
    """
    value = parse_json(content)  # stricter about texts than the parser that finds repeated members
    sent = content.encode() if isinstance(content, str) else content
    if orjson.dumps(value) == sent and not _LONG_NUMBER.search(sent):
        return value  # nothing is lost, and this takes a tenth of the time
    return json.loads(
        sent,
        object_pairs_hook=_members,
        parse_int=_read_integer,
        parse_float=_read_fraction,
    )


def require_exact_member(content: bytes, name: str) -> None:
    """Raise JsonRefused if two readers may understand this member of an object differently; of others only the names matter."""
    json.loads(content, object_pairs_hook=_members)
    members = msgspec.json.decode(content, type=dict[str, msgspec.Raw])
    parse_unambiguous_json(bytes(members[name]))


def require_object(value: object) -> Mapping[str, object]:
    """Return an object's members; raise JsonRefused if the value is something else."""
    if not isinstance(value, dict):
        raise JsonRefused("is not a JSON object")
    return cast("dict[str, object]", value)


def _may_be_deep(content: bytes | str) -> bool:
    """Return whether it has enough brackets for that; nearly nothing has."""
    if isinstance(content, str):
        return content.count("{") + content.count("[") > MAX_DEPTH
    return content.count(b"{") + content.count(b"[") > MAX_DEPTH


def _is_deeper(value: object, levels: int) -> bool:
    """Return whether objects and arrays are within one another more than so many times."""
    below: list[object] = [value]
    while below and levels > 0:
        inner: list[object] = []
        for each in below:
            if isinstance(each, dict):
                inner += cast("dict[str, object]", each).values()
            elif isinstance(each, list):
                inner += cast("list[object]", each)
        below, levels = [one for one in inner if isinstance(one, dict | list)], levels - 1
    return bool(below)


def _members(pairs: list[tuple[str, object]]) -> dict[str, object]:
    members = dict(pairs)
    if len(members) < len(pairs):
        raise JsonRefused("has a member more than once")
    return members


def _read_integer(digits: str) -> int:
    if len(digits) <= len(str(-LARGEST_INTEGER)):
        number = int(digits)
        if abs(number) <= LARGEST_INTEGER:
            return number
    raise JsonRefused("has an integer of more than 53 bits")


def _read_fraction(text: str) -> float:
    """Return the number if it is written again with the same value."""
    number = float(text)
    try:
        is_same = not isinf(number) and Decimal(repr(number)) == Decimal(text)
    except ArithmeticError:  # its exponent has more digits than Decimal takes
        is_same = False
    if not is_same:
        raise JsonRefused("has a number that JSON does not carry exactly")
    return number
