"""Reads authorization_details and compares them with what was granted before (RFC 9396 §2, §6.1)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import cast

from service.protocol.errors import InvalidAuthorizationDetails
from service.protocol.json_input import LARGEST_INTEGER, JsonRefused, parse_unambiguous_json

Detail = Mapping[str, object]
"""One object of authorization_details; its `type` says what its other members mean."""

PARAMETER = "authorization_details"

MAX_BYTES = 8 * 1024
MAX_OBJECTS = 50
MAX_DEPTH = 16
"""Objects and arrays within one another; a schema that refers to itself costs more with each of them."""

NARROWABLE = frozenset({"locations", "actions", "datatypes", "privileges"})
"""The common members that list what is allowed (RFC 9396 §2.2)."""


def parse_details(text: str) -> tuple[Detail, ...]:
    """Return the objects; InvalidAuthorizationDetails if they are too long, too many, too deep or without a type."""
    if len(text) > MAX_BYTES or len(text.encode()) > MAX_BYTES:
        raise InvalidAuthorizationDetails(f"{PARAMETER} is longer than {MAX_BYTES} bytes")
    try:
        sent = parse_unambiguous_json(text)
    except JsonRefused as refused:
        raise InvalidAuthorizationDetails(f"{PARAMETER} {refused}") from refused
    return read_details(sent)


def read_details(sent: object) -> tuple[Detail, ...]:
    """Return the objects of an array; InvalidAuthorizationDetails if they are too many, too deep or without a type."""
    details = cast("list[object]", sent) if isinstance(sent, list) else []
    if not details:
        raise InvalidAuthorizationDetails(f"{PARAMETER} is not an array of one object or more")
    if len(details) > MAX_OBJECTS:
        raise InvalidAuthorizationDetails(f"{PARAMETER} has more than {MAX_OBJECTS} objects")
    return tuple([_read_detail(detail, at) for at, detail in enumerate(details)])


def types_of(details: Collection[Detail]) -> tuple[str, ...]:
    """Return the types of the objects, each once; their other members may be confidential."""
    return tuple(sorted({str(detail["type"]) for detail in details})) if details else ()


def _read_detail(sent: object, at: int) -> Detail:
    detail = cast("dict[str, object]", sent) if isinstance(sent, dict) else {}
    if not isinstance(detail.get("type"), str):
        raise InvalidAuthorizationDetails(f"{PARAMETER}[{at}] is not an object with a type")
    for value, depth in _walk(detail, 1):
        if depth > MAX_DEPTH:
            raise InvalidAuthorizationDetails(f"{PARAMETER}[{at}] is nested too deeply")
        if isinstance(value, int) and abs(value) > LARGEST_INTEGER:
            raise InvalidAuthorizationDetails(f"{PARAMETER}[{at}] has a number that is too large")
    return detail


def _walk(value: object, depth: int) -> Iterator[tuple[object, int]]:
    """Yield every value with the number of objects and arrays that it is within."""
    yield value, depth
    if isinstance(value, dict):
        for member in cast("dict[str, object]", value).values():
            yield from _walk(member, depth + 1)
    elif isinstance(value, list):
        for element in cast("list[object]", value):
            yield from _walk(element, depth + 1)


def put_details(members: dict[str, object], details: Sequence[Detail]) -> None:
    """Describe a token by these details; one for details alone has no scope (RFC 9396 §3.1, §7, §9)."""
    if details:
        members[PARAMETER] = details
    else:
        members.pop(PARAMETER, None)
    if members.get("scope") == "":
        del members["scope"]


def narrow_details(granted: tuple[Detail, ...], asked: tuple[Detail, ...]) -> tuple[Detail, ...]:
    """Return the objects asked for, or all granted ones where none are; InvalidAuthorizationDetails if they say more.

    One granted object allows one that is asked for, or else one payment could become two.
    """
    if not asked:
        return granted
    allowing = [
        [at for at, known in enumerate(granted) if is_part(detail, known)] for detail in asked
    ]
    if not _can_all_choose(allowing):
        raise InvalidAuthorizationDetails(f"{PARAMETER} says more than what was granted")
    return asked


def is_part(detail: Detail, granted: Detail) -> bool:
    """Return whether an object differs from a granted one at most by elements that its lists leave out."""
    if detail.keys() != granted.keys():
        return False
    return all(
        _leaves_out(value, granted[name]) if name in NARROWABLE else is_same(value, granted[name])
        for name, value in detail.items()
    )


def is_same(one: object, other: object) -> bool:
    """Return whether two values are equal as JSON, where `true` is not 1."""
    if isinstance(one, dict) and isinstance(other, dict):
        members, others = cast("Detail", one), cast("Detail", other)
        return members.keys() == others.keys() and all(
            is_same(value, others[name]) for name, value in members.items()
        )
    if isinstance(one, list) and isinstance(other, list):
        elements, rest = cast("list[object]", one), cast("list[object]", other)
        return len(elements) == len(rest) and all(map(is_same, elements, rest))
    return isinstance(one, bool) is isinstance(other, bool) and one == other


def _leaves_out(value: object, granted: object) -> bool:
    """Return whether a list has only words of the granted one; an empty list might mean anything to an API."""
    words, known = _read_words(value), _read_words(granted)
    return is_same(value, granted) if not words or known is None else words <= known


def _read_words(value: object) -> frozenset[str] | None:
    elements = cast("list[object]", value) if isinstance(value, list) else [None]
    words = frozenset([element for element in elements if isinstance(element, str)])
    return words if all(isinstance(element, str) for element in elements) else None


def _can_all_choose(choices: Sequence[Sequence[int]]) -> bool:
    """Return whether everybody can have one of their choices to themselves."""
    taken: dict[int, int] = {}

    def find_place(chooser: int, tried: set[int]) -> bool:
        for place in choices[chooser]:
            if place not in tried:
                tried.add(place)
                if place not in taken or find_place(taken[place], tried):
                    taken[place] = chooser
                    return True
        return False

    return all(find_place(chooser, set()) for chooser in range(len(choices)))
