"""What pydantic found, in the words of someone who edits a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
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
    return (*parent, _closest(key, _keys_at(parent)) or key)


def _finding(details: ErrorDetails) -> Finding:
    location: Location = details["loc"]
    kind, value = details["type"], details["input"]
    if kind == "extra_forbidden":
        keys = _keys_at(location[:-1])
        hint = nearest(location[-1], keys) or f"known keys here: {', '.join(keys)}"
        return Finding(location, "unknown key", hint, at_key=True)
    if kind == "literal_error":
        words = str(details.get("ctx", {})["expected"]).replace("'", "")
        known = words.replace(" or ", ", ").split(", ")
        return Finding(location, f"expected {words}", nearest(value, known))
    if kind == "string_type" and isinstance(value, bool | int | float):
        return Finding(location, "expected text", "put it into quotes")
    return Finding(location, _in_our_words(details))


def _in_our_words(details: ErrorDetails) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "string_too_short":
        least: int = context["min_length"]
        return "must not be empty" if least == 1 else f"must have at least {least} characters"
    if kind in _MESSAGES:
        return _MESSAGES[kind].format(**context)
    return details["msg"].removeprefix("Value error, ").removeprefix("Input ")


def _keys_at(location: Location) -> tuple[str, ...]:
    """The keys that the schema knows in the mapping at a location."""
    model: type[BaseModel] = ConfigurationFile
    for part in location:
        if isinstance(part, str) and part in model.model_fields:
            model = _model_in(model.model_fields[part].annotation) or model
    return tuple(model.model_fields)


def _model_in(annotation: object) -> type[BaseModel] | None:
    """The model that an annotation such as `tuple[Model, ...] | None` speaks of."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    models = (_model_in(argument) for argument in get_args(annotation))
    return next((model for model in models if model is not None), None)
