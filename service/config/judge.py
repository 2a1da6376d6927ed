"""Judges the file's values by schema and rules, all at once: what is malformed hides nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path

from pydantic import ValidationError

from service.config.problem import Finding, Location, warning
from service.config.reading.values import Value
from service.config.rules.rule import FileRule
from service.config.rules.table import rules as every_rule
from service.config.schema.file import ConfigurationFile
from service.config.schema.findings import schema_findings
from service.model.catalogue import Catalogue

_ROUNDS = 4
"""Taking out a malformed value may leave a required key missing, and that its parent empty."""
_STANDS_FOR_MISSING: Mapping[str, Value] = {"issuer": "https://issuer.invalid", "amr": ["missing"]}
_SETS_OF_WORDS = ("allowed_grant_types", "allowed_response_types", "allowed_scopes")


def judge(
    values: Value,
    catalogue: Catalogue,
    *,
    replaced: Mapping[Location, str],
    directory: Path,
    rules: Iterable[FileRule] = (),
) -> tuple[ConfigurationFile | None, list[Finding]]:
    """The file where it is well-formed, and what schema and rules, further ones too, have to say of it."""
    rules = (*every_rule(catalogue), *rules)
    try:
        file = _validate(values, replaced, directory)
    except ValidationError as error:
        return None, [
            *schema_findings(error),
            *_findings_of_the_rest(values, error, directory, rules),
            *_find_repeated_words(values),
        ]
    return file, [*_findings(file, rules), *_find_repeated_words(values)]


def _find_repeated_words(values: Value) -> Iterator[Finding]:
    """Warn of words that a client lists twice; the sets of the schema do not show them."""
    clients = values.get("clients") if isinstance(values, dict) else None
    for at, client in enumerate(clients if isinstance(clients, list) else []):
        for key in _SETS_OF_WORDS:
            listed = client.get(key) if isinstance(client, dict) else None
            words = listed if isinstance(listed, list) else []
            for index in _positions_of_repeated(words):
                location = ("clients", at, key, index)
                yield warning(location, f"{words[index]} is listed twice", "remove one")


def _positions_of_repeated(words: list[Value]) -> Iterator[int]:
    seen = set[str]()
    for index, word in enumerate(words):
        if isinstance(word, str):
            if word in seen:
                yield index
            seen.add(word)


def _validate(
    values: Value, replaced: Mapping[Location, str], directory: Path
) -> ConfigurationFile:
    """Check against the schema; where text is wanted, what came from the environment is text, even `8080`."""
    try:
        return ConfigurationFile.model_validate(values, context={"directory": directory})
    except ValidationError as error:
        wanted = [location for kind, location in _errors(error) if kind == "string_type"]
        as_text = [location for location in wanted if location in replaced]
        if not as_text:
            raise
    for location in as_text:
        _put(values, location, replaced[location])
    return _validate(values, {}, directory)


def _errors(error: ValidationError) -> Iterator[tuple[str, Location]]:
    for details in error.errors(include_url=False, include_context=False, include_input=False):
        yield details["type"], details["loc"]


def _findings_of_the_rest(
    values: Value, error: ValidationError, directory: Path, rules: Iterable[FileRule]
) -> Iterator[Finding]:
    """What the rules say of the file without its malformed parts, but for what only follows from their absence."""
    rest, removed = deepcopy(values), set[Location]()
    for _ in range(_ROUNDS):
        removed |= _take_out(rest, _errors(error))
        try:
            file = _validate(rest, {}, directory)
        except ValidationError as further:
            error = further
        else:
            yield from (each for each in _findings(file, rules) if not _follows(each, removed))
            return


def _findings(file: ConfigurationFile, rules: Iterable[FileRule]) -> Iterator[Finding]:
    for rule in rules:
        yield from rule(file)


def _take_out(values: Value, errors: Iterable[tuple[str, Location]]) -> set[Location]:
    """Remove malformed values, put something in the place of missing ones, and say where."""
    removed: set[Location] = set()
    for kind, location in errors:
        key = _nearest_key(location)
        if not key or key in removed:
            continue
        removed.add(key)
        if kind == "missing":
            _put(values, key, _STANDS_FOR_MISSING.get(str(key[-1]), _made_up(key)))
        else:
            _remove(values, key)
    return removed


def _made_up(key: Location) -> str:
    """A name of its own for what has none."""
    return "-".join(str(part) for part in ("missing", *key))


def _nearest_key(location: Location) -> Location:
    """The location up to its last key: an item is not taken out of a list, so that the others keep their places."""
    while location and not isinstance(location[-1], str):
        location = location[:-1]
    return location


def _follows(finding: Finding, removed: Iterable[Location]) -> bool:
    """Whether a finding is about a place where something was taken out, names what was put there, or only warns beside."""
    at = finding.location
    if any(_made_up(each) in f"{finding.message} {finding.hint}" for each in removed):
        return True
    if any(at == each[: len(at)] or each == at[: len(each)] for each in removed):
        return True
    return finding.severity == "warning" and any(at[:-1] == each[:-1] for each in removed)


def _parent(values: Value, location: Location) -> Value:
    for part in location[:-1]:
        if isinstance(values, dict):
            values = values.get(str(part))
        elif isinstance(values, list) and isinstance(part, int):
            values = values[part]
    return values


def _put(values: Value, location: Location, value: Value) -> None:
    parent, last = _parent(values, location), location[-1]
    if isinstance(parent, dict):
        parent[str(last)] = value
    elif isinstance(parent, list) and isinstance(last, int):
        parent[last] = value


def _remove(values: Value, location: Location) -> None:
    parent = _parent(values, location)
    if isinstance(parent, dict):
        parent.pop(str(location[-1]), None)
