"""Judges the file's values by schema and rules; what is malformed does not hide what else is wrong."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from copy import deepcopy
from pathlib import Path

from msgspec.structs import replace

from service.config.convert import convert
from service.config.problem import Finding, Location, warning
from service.config.reading.source import LISTS
from service.config.reading.values import Value
from service.config.schema.file import ConfigurationFile
from service.config.schema.findings import find_meant, schema_findings
from service.model.client_entry import ClientEntry
from service.model.marks import Unfit

FileRule = Callable[[ConfigurationFile], Iterable[Finding]]
ClientRule = Callable[[ClientEntry], Iterable[Finding]]

_ROUNDS = 4
"""Without a malformed value a required key may be missing, and its parent may then be empty."""
_STANDS_FOR_MISSING: Mapping[str, Value] = {"issuer": "https://issuer.invalid"}
_SETS_OF_WORDS = ("allowed_grant_types", "allowed_response_types", "allowed_scopes")


def judge(
    values: Value,
    rules: Iterable[FileRule],
    *,
    replaced: Mapping[Location, Value],
    directory: Path,
) -> tuple[ConfigurationFile | None, list[Finding]]:
    """Return the file if it is well-formed, and the findings of schema and rules."""
    repeated = [*_find_repeated_words(values)]
    try:
        file = _validate(values, replaced, directory)
    except Unfit as error:
        found = _judge_the_rest(values, error, directory, rules)
        return None, [*schema_findings(error), *found, *repeated]
    return file, [*(finding for rule in rules for finding in rule(file)), *repeated]


def _find_repeated_words(values: Value) -> Iterator[Finding]:
    """Warn of words that a client lists twice; the sets of the schema do not show them."""
    clients = values.get("clients") if isinstance(values, dict) else None
    for at, client in enumerate(clients if isinstance(clients, list) else []):
        for key in _SETS_OF_WORDS:
            words = client.get(key) if isinstance(client, dict) else None
            listed = words if isinstance(words, list) else []
            for index, word in enumerate(listed):
                if isinstance(word, str) and word in listed[:index]:
                    location = ("clients", at, key, index)
                    yield warning(location, f"{word} is listed twice", "remove one")


def _validate(
    values: Value, replaced: Mapping[Location, Value], directory: Path
) -> ConfigurationFile:
    """Check against the schema; a value from the environment, such as `8080`, is text where text is expected, and a number elsewhere."""
    try:
        file: ConfigurationFile = convert(values, ConfigurationFile, directory)
    except Unfit as error:
        otherwise = [
            misfit.location
            for misfit in error.misfits
            if misfit.location in replaced
            and isinstance(replaced[misfit.location], str) is (misfit.kind == "text")
        ]
        if not otherwise:
            raise
    else:
        return file
    for location in otherwise:
        _put(values, location, replaced[location])
    return _validate(values, {}, directory)


def _judge_the_rest(
    values: Value, error: Unfit, directory: Path, rules: Iterable[FileRule]
) -> Iterator[Finding]:
    """Apply the rules to the file without its malformed values, and leave out what only follows from that."""
    rest, removed, misspelt = deepcopy(values), set[Location](), dict[Location, Location]()
    for _ in range(_ROUNDS):
        corrected = _correct_keys(rest, error)
        misspelt |= corrected
        removed |= _take_out(rest, error, {*corrected.keys(), *corrected.values()})
        try:
            file = _validate(rest, {}, directory)
        except Unfit as further:
            error = further
            continue
        found = (finding for rule in rules for finding in rule(file))
        yield from (_as_written(each, misspelt) for each in found if not _follows(each, removed))
        return


def _correct_keys(values: Value, error: Unfit) -> dict[Location, Location]:
    """Put the values of misspelt keys below the keys that are meant; return the locations of these with those in the file."""
    corrected = {meant: each.location for each in error.misfits if (meant := find_meant(each))}
    for meant, written in corrected.items():
        parent = _parent(values, written)
        if isinstance(parent, dict):
            _put(values, meant, parent.pop(str(written[-1])))
    return corrected


def _as_written(finding: Finding, misspelt: Mapping[Location, Location]) -> Finding:
    """Return the finding at the keys that stand in the file."""
    at = finding.location
    for meant, written in reversed([*misspelt.items()]):  # the last ones are the innermost
        if at[: len(meant)] == meant:
            at = (*written, *at[len(meant) :])
    return replace(finding, location=at)


def _take_out(values: Value, error: Unfit, corrected: Collection[Location]) -> set[Location]:
    """Remove malformed values, make up missing ones, and return their locations."""
    removed: set[Location] = set()
    for misfit in error.misfits:
        key = misfit.location
        while key and not isinstance(key[-1], str):  # the items of a list keep their positions
            key = key[:-1]
        if not key or key in removed or key in corrected:
            continue
        removed.add(key)
        if misfit.kind == "missing":
            _put(values, key, _STANDS_FOR_MISSING.get(str(key[-1]), _made_up(key)))
        elif isinstance(parent := _parent(values, key), dict):
            parent.pop(str(key[-1]), None)
    return removed


def _made_up(key: Location) -> str:
    """Return a unique name for something without one."""
    return "-".join(str(part) for part in ("missing", *key))


def _follows(finding: Finding, removed: Iterable[Location]) -> bool:
    """Return whether a finding is about a removed value or a made-up one, or warns of something next to it, or below that.

    While an entry is not known by its name, each warning may come from that, and waits.
    """
    at = finding.location
    if any(_made_up(each) in f"{finding.message} {finding.hint}" for each in removed):
        return True
    if any(at == each[: len(at)] or each == at[: len(each)] for each in removed):
        return True
    if finding.severity != "warning":
        return False
    beside = (each[:-1] for each in removed)
    return any(map(_hides_entry, removed)) or any(
        at[: len(each)] == each if each else len(at) == 1 for each in beside
    )


def _hides_entry(removed: Location) -> bool:
    """Return whether an entry that others refer to cannot be found without this value: a list of the registry, or a name in it."""
    return any(
        removed == entries or (removed[:-2] == entries and removed[-1] in names)
        for entries, names in LISTS.items()
    )


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
