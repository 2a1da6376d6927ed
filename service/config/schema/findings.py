"""What pydantic found, in the words of someone who edits a file."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from service.config.problem import Finding, Location
from service.config.schema.file import ConfigurationFile

_MESSAGES = {
    "missing": "is required",
    "string_type": "expected text",
    "int_type": "expected a whole number",
    "bool_type": "expected true or false",
    "tuple_type": "expected a list",
    "frozen_set_type": "expected a list",
    "model_type": "expected keys and values",
    "dict_type": "expected keys and values",
    "string_unicode": "has characters that are no Unicode",
    "too_short": "must not be empty",
    "string_too_long": "must have at most {max_length} characters",
    "string_pattern_mismatch": "must fit the pattern {pattern}",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "less_than_equal": "must be at most {le}",
}


_LOG_LEVEL = "the level of the log is set by SERVICE_LOG_LEVEL or `serve --log-level`"
_SET_ELSEWHERE: Mapping[str, str] = dict.fromkeys(
    ("log", "log_level", "logging", "loglevel", "logs"), _LOG_LEVEL
)
"""Unknown keys whose remedy is not another key."""
_BOOLS: Mapping[str, str] = {
    **dict.fromkeys(("yes", "y", "on"), "write true"),
    **dict.fromkeys(("no", "n", "off"), "write false"),
}
"""The words for true and false of YAML 1.1."""
_SECRET_LISTS = frozenset({"client_secrets", "secrets"})
_SECRET = "write `- sha256: …` as `python -m service hash-secret` prints it"
_PLAIN_WORDS = re.compile(r"{word}([\s,]+{word})*".format(word=r"[\w/](?:[\w./:+?=&%~-]*[\w/])?"))


def schema_findings(error: ValidationError) -> Iterator[Finding]:
    """Every error as a finding; an unknown key and a wrong word come with the nearest right one."""
    errors = error.errors(include_url=False)
    meant = {_meant(details["loc"]) for details in errors if details["type"] == "extra_forbidden"}
    wrong = {details["loc"][:-1] for details in errors}
    for details in errors:
        kind, location = details["type"], details["loc"]
        is_misspelt = kind == "missing" and location in meant
        only_lost_wrong_items = kind == "too_short" and location in wrong
        if not (is_misspelt or only_lost_wrong_items):
            yield _finding(details)


def nearest(word: object, known: Iterable[str]) -> str | None:
    """A hint at what the writer may have meant."""
    close = _closest(word, known)
    return f"did you mean {close}?" if close else None


def _closest(word: object, known: Iterable[str]) -> str | None:
    return next(iter(get_close_matches(str(word), list(known), n=1)), None)


def _meant(unknown: Location) -> Location:
    """Where the key would stand that somebody may have misspelt."""
    parent, key = unknown[:-1], unknown[-1]
    return (*parent, _closest(key, _model_at(parent).model_fields) or key)


def _finding(details: ErrorDetails) -> Finding:
    location: Location = details["loc"]
    kind, value = details["type"], details["input"]
    if location[-1:] == ("[key]",):  # pydantic's mark of an error in a key
        return replace(_finding({**details, "loc": location[:-1]}), at_key=True)
    if kind == "extra_forbidden":
        return Finding(location, "unknown key", _known_key(location), at_key=True)
    if kind == "literal_error":
        words = str(details.get("ctx", {})["expected"]).replace("'", "")
        known = words.replace(" or ", ", ").split(", ")
        return Finding(location, f"expected {words}", nearest(value, known))
    if kind == "string_type" and isinstance(value, bool | int | float):
        return Finding(location, "expected text", "put it into quotes")
    return Finding(location, _in_our_words(details), _remedy(kind, location, value))


def _known_key(unknown: Location) -> str:
    keys = _model_at(unknown[:-1]).model_fields
    close = _SET_ELSEWHERE.get(str(unknown[-1])) or nearest(unknown[-1], keys)
    return close or f"known keys here: {', '.join(keys)}"


def _remedy(kind: str, location: Location, value: object) -> str | None:
    """Return what to write instead, without the value where it may be a secret."""
    if kind == "bool_type":
        return _BOOLS.get(str(value).lower())
    if _SECRET_LISTS & set(location[-2:]) and isinstance(value, str):
        return _SECRET
    if kind in {"tuple_type", "frozen_set_type"} and isinstance(value, str):
        return _as_list(value) if _is_shown(location) else "write a list: [one, two]"
    return None


def _as_list(value: str) -> str:
    if not _PLAIN_WORDS.fullmatch(value):
        return "write a list: [one, two]"
    return f"write [{', '.join(value.replace(',', ' ').split())}]"


def _is_shown(location: Location) -> bool:
    """Whether the key at a location holds no secret."""
    field = _model_at(location[:-1]).model_fields.get(str(location[-1]))
    return field is not None and field.repr


def _in_our_words(details: ErrorDetails) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "string_too_short":
        least: int = context["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {least} characters"
    if kind in _MESSAGES:
        return _MESSAGES[kind].format(**context)
    return details["msg"].removeprefix("Value error, ").removeprefix("Input ")


def _model_at(location: Location) -> type[BaseModel]:
    """Return the part of the schema that a location is in."""
    model: type[BaseModel] = ConfigurationFile
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
    return model


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model that an annotation such as `tuple[Model, ...] | None` speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = (_model_in(argument) for argument in get_args(annotation))
    return next((model for model in models if model is not None), None)
