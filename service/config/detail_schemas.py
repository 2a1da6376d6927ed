"""Reads and compiles the JSON Schemas of authorization_details types (RFC 9396 §5, JSON Schema 2020-12)."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

from service.config.problem import ConfigError, Finding, Location, Problem
from service.config.reading.files import FilesRead
from service.model.resources import AuthorizationDetailsType, AuthorizationDetailsTypeEntry
from service.protocol.authorization_details import Detail

if TYPE_CHECKING:
    from jsonschema_rs import Draft202012Validator

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_NOT_IN_DESCRIPTIONS = re.compile(r"[^ !#-\[\]-~]")
"""Characters that an error_description does not hold (RFC 6749 §5.2)."""
_NO_LOOKAROUND = "lookaround and backreferences are not possible: they can take for ever"
_HINTS: Mapping[str, str] = {
    "pattern": _NO_LOOKAROUND,
    "patternProperties": _NO_LOOKAROUND,
    "$ref": "nothing is fetched; put it under $defs, and refer to it by #/$defs/…",
}


class SchemaRefused(Exception):
    """A schema cannot be used."""

    def __init__(self, message: str, hint: str | None = None, *, at: Location = ()) -> None:
        """Take the place within the schema as well, as far as it is known."""
        super().__init__(message)
        self.finding = Finding(at, message, hint)


def read_types(
    entries: Iterable[AuthorizationDetailsTypeEntry], files: FilesRead
) -> Mapping[str, AuthorizationDetailsType]:
    """Return the types by their names; ConfigError for a file that has changed since the rules were checked."""
    known: dict[str, AuthorizationDetailsType] = {}
    for entry in entries:
        try:
            schema, find_fault = read_schema(entry)
        except SchemaRefused as refused:
            message = f"the schema of {entry.type} {refused}"
            raise ConfigError(
                [Problem(file=str(entry.schema), message=message)], files
            ) from refused
        known[entry.type] = AuthorizationDetailsType(
            type=entry.type,
            api_resource=entry.api_resource,
            schema=schema,
            summary=entry.summary,
            find_fault=find_fault,
        )
    return known


def read_schema(
    entry: AuthorizationDetailsTypeEntry,
) -> tuple[Mapping[str, object] | None, Callable[[Detail], str | None]]:
    """Return the schema and what finds the rule that an object breaks; SchemaRefused if that cannot be said."""
    schema = entry.schema
    if schema is None:
        return None, _has_no_rules
    if isinstance(schema, Path):
        schema = _read_file(schema)
    if schema.get("$schema", _DIALECT) not in {_DIALECT, f"{_DIALECT}#"}:
        raise SchemaRefused("is of another version than 2020-12", at=("$schema",))
    return schema, _Check(schema)


def _read_file(path: Path) -> Mapping[str, object]:
    try:
        schema: object = json.loads(path.read_bytes())
    except OSError as error:
        raise SchemaRefused(f"cannot be read: {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise SchemaRefused(f"is not JSON: {path}: {error}") from error
    if not isinstance(schema, dict):
        raise SchemaRefused(f"is not a JSON object: {path}")
    return cast("dict[str, object]", schema)


def _has_no_rules(_: Detail) -> None:
    return None


class _Check:
    """Finds the rule that an object breaks; it goes to another process as the schema, and is compiled there again."""

    def __init__(self, schema: Mapping[str, object]) -> None:
        self._schema = schema
        self._validator = _compile(schema)

    def __call__(self, detail: Detail) -> str | None:
        """Return the place of the rule in the schema; the library's own message repeats what was sent."""
        if self._validator.is_valid(detail):
            return None
        fault = next(self._validator.iter_errors(detail))
        place = "/".join(["#", *map(str, fault.schema_path)])
        missing = getattr(fault.kind, "property", None)
        found = place if missing is None else f"{place} ({missing})"
        return _NOT_IN_DESCRIPTIONS.sub("?", found)

    def __reduce__(self) -> tuple[type[_Check], tuple[Mapping[str, object]]]:
        return _Check, (self._schema,)


def _compile(schema: Mapping[str, object]) -> Draft202012Validator:
    """Return what checks an object, in a time that is linear in the length of its strings."""
    import jsonschema_rs  # noqa: PLC0415 - 8 MB, for those who have such types

    try:
        return jsonschema_rs.Draft202012Validator(
            dict(schema),
            offline=True,
            validate_formats=True,
            pattern_options=jsonschema_rs.RegexOptions(),
        )
    except jsonschema_rs.ValidationError as error:
        place = tuple(error.instance_path)
        hints = [hint for keyword, hint in _HINTS.items() if keyword in (*place, error.kind.name)]
        message = f"is not a JSON Schema: {error.message}"
        raise SchemaRefused(message, hints[0] if hints else None, at=place) from error
