"""Translates pydantic's errors into the words of a person who edits a file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import Field, fields
from typing import TYPE_CHECKING, Any, cast, get_args, get_type_hints

from msgspec.structs import replace
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from service.config.problem import Finding, Location, find_closest, nearest
from service.config.schema.familiar_keys import find_familiar
from service.config.schema.file import ConfigurationFile
from service.model.types import Section

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_MESSAGES = {
    "missing": "is required",
    "string_type": "expected text",
    "int_type": "expected a whole number",
    "bool_type": "expected true or false",
    **dict.fromkeys(("tuple_type", "frozen_set_type"), "expected a list"),
    **dict.fromkeys(("dataclass_type", "dict_type"), "expected keys and values"),
    "string_unicode": "has characters that are no Unicode",
    "too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must fit the pattern {pattern}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}
_MOST_LISTED = 20
"""As many keys as fit into a hint."""
_BOOLS: Mapping[str, str] = {
    **dict.fromkeys(("yes", "y", "on"), "write true"),
    **dict.fromkeys(("no", "n", "off"), "write false"),
}
"""The words for true and false of YAML 1.1."""
_EMPTY: Mapping[str, str] = {
    **dict.fromkeys(("tuple_type", "frozen_set_type"), "it is empty: remove the key, or write []"),
    **dict.fromkeys(("dataclass_type", "dict_type"), "it is empty: remove the key, or write {}"),
}
"""Remedies of a key without a value where a list, or keys and values, are expected."""
_SECRET_LISTS = frozenset({"client_secrets", "secrets"})
_PLAIN_WORDS = re.compile(r"{word}([\s,]+{word})*".format(word=r"[\w/](?:[\w./:+?=&%~-]*[\w/])?"))


def schema_findings(error: ValidationError) -> Iterator[Finding]:
    """Yield every error as a finding; an unknown key and a wrong word come with the nearest right one."""
    errors = error.errors(include_url=False)
    unknown = [each["loc"] for each in errors if each["type"] == "unexpected_keyword_argument"]
    meant, wrong = {*map(_meant, unknown)}, {each["loc"][:-1] for each in errors}
    for details in errors:
        kind, location = details["type"], details["loc"]
        is_misspelt = kind == "missing" and location in meant
        only_lost_wrong_items = kind == "too_short" and location in wrong
        if not (is_misspelt or only_lost_wrong_items):
            yield _translate(details)


def explain_unknown_key(location: Location, keys: Collection[str]) -> str:
    """Return what to write instead of a key that is not known."""
    familiar = find_familiar(location)
    if familiar is not None:
        return f"did you mean {familiar}?" if familiar in keys else familiar
    listed = f"known keys here: {', '.join(keys)}"
    many = "docs/configuration.md lists the keys"
    return nearest(location[-1], keys) or (listed if len(keys) <= _MOST_LISTED else many)


def _meant(unknown: Location) -> Location:
    """Return the location of the key that an unknown one is a misspelling of."""
    parent, key = unknown[:-1], unknown[-1]
    return (*parent, find_familiar(unknown) or find_closest(str(key), _keys_at(parent)) or key)


def _translate(details: ErrorDetails) -> Finding:
    location: Location = details["loc"]
    kind, value = details["type"], details["input"]
    if location[-1:] == ("[key]",):  # pydantic's mark of an error in a key
        return replace(_translate({**details, "loc": location[:-1]}), at_key=True)
    if kind == "unexpected_keyword_argument":
        hint = explain_unknown_key(location, _keys_at(location[:-1]))
        return Finding(location, "unknown key", hint, at_key=True)
    if kind == "literal_error":
        words = str(details.get("ctx", {})["expected"]).replace("'", "")
        known = words.replace(" or ", ", ").split(", ")
        return Finding(location, f"expected {words}", nearest(value, known))
    remedy = _EMPTY.get(kind) if value is None else _remedy(kind, location, value)
    remedy = remedy or _reshape(kind, location, value)
    return Finding(location, _message(details), remedy)


def _message(details: ErrorDetails) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "string_too_short":
        least: int = context["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {least} characters"
    if kind in _MESSAGES:
        return _MESSAGES[kind].format(**context)
    return details["msg"].removeprefix("Value error, ").removeprefix("Input ")


def _remedy(kind: str, location: Location, value: object) -> str | None:
    """Return what to write instead, without the value if it may be a secret."""
    if kind == "string_type" and isinstance(value, bool | int | float):
        return "put it into quotes"
    if kind == "bool_type":
        return _BOOLS.get(str(value).lower())
    if _SECRET_LISTS & set(location[-2:]) and isinstance(value, str):
        return "write `- sha256: …` as `token-service hash-secret` prints it"
    if kind in {"tuple_type", "frozen_set_type"} and isinstance(value, str):
        field = _keys_at(location[:-1]).get(str(location[-1]))
        if field is not None and field.repr and _PLAIN_WORDS.fullmatch(value):
            return f"write [{', '.join(value.replace(',', ' ').split())}]"
        return "write a list: [one, two]"
    return None


def _reshape(kind: str, location: Location, value: object) -> str | None:
    """Return how to write a list where a section is expected, and the reverse."""
    if kind == "dataclass_type" and isinstance(value, list) and "list" in _keys_at(location):
        return f"write {location[-1]}: {{list: […]}}"
    if kind == "tuple_type" and isinstance(value, dict):
        return "write a list, whose entries begin with -"
    return None


def _keys_at(location: Location) -> Mapping[str, Field[Any]]:
    section: type[Section] = ConfigurationFile
    for part in location:
        section = _section_in(get_type_hints(section).get(str(part))) or section
    return {key.name: key for key in fields(cast("type[DataclassInstance]", section))}


def _section_in(annotation: object) -> type[Section] | None:
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return annotation
    sections = (_section_in(argument) for argument in get_args(annotation))
    return next((section for section in sections if section is not None), None)
