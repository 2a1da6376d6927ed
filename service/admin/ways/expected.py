"""Reads the rows of a registry test, and compares them with the ways of a registry."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import msgspec

from service.admin.ways.finding import Way, find_api, find_entry
from service.admin.ways.missing import find_unknown, missing_conditions
from service.config.problem import ConfigError, Finding
from service.config.reading.files import FilesRead
from service.config.reading.source import problem_at
from service.config.reading.values import Reader, Value
from service.config.reading.yaml_nodes import parse_file
from service.model.registry import Registry

_KEYS = ({"client", "can"}, {"client", "cannot"}, {"client", "can", "cannot"}, {"api", "only"})


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """One expectation of a client, or of an API."""

    number: int
    client: str | None = None
    can: tuple[str, ...] = ()
    """Each the name of an API, or of an API and a scope value, such as `orders orders.read`."""
    cannot: tuple[str, ...] = ()
    api: str | None = None
    only: tuple[str, ...] = ()
    """All clients that can get tokens for the API."""


def read_rows(file: Path) -> tuple[Row, ...]:
    """Return the rows; raise ConfigError with every problem if the file is not a list of them."""
    files = FilesRead()
    root = parse_file(file, files)
    reader = Reader({}, files)
    values = reader.read(root)
    findings = reader.findings or [*_find_problems(values)]
    if findings:
        raise ConfigError(problem_at(root, values, each) for each in findings)
    rows = cast("list[dict[str, Any]]", values)
    return tuple(msgspec.convert({"number": at, **row}, Row) for at, row in enumerate(rows, 1))


def _find_problems(values: Value) -> Iterator[Finding]:
    if not isinstance(values, list) or not values:
        yield Finding((), "expected a list of rows", "such as - {client: frontend, can: [api1]}")
        return
    for at, row in enumerate(values):
        members = row if isinstance(row, dict) else {}
        if set(members) not in _KEYS:
            yield Finding((at,), "a row has client with can or cannot, or api with only")
            continue
        for key, value in members.items():
            if key in {"client", "api"}:
                if not isinstance(value, str):
                    yield Finding((at, key), "expected a name", "numbers need quotes")
            elif not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                yield Finding((at, key), "expected a list of names", "such as [api1]")


def find_failures(
    rows: Collection[Row], registry: Registry, ways: Collection[Way]
) -> Iterator[str]:
    """Yield a line for each expectation that does not hold, and for each unknown name."""
    reach: dict[tuple[str, str], frozenset[str]] = {}
    for way in ways:
        key = (way.client_id, way.api)
        reach[key] = reach.get(key, frozenset()) | way.scope
    for row in rows:
        failures = (
            _of_api(row, registry, ways) if row.api else _of_client(row, registry, ways, reach)
        )
        yield from (f"row {row.number}: {failure}" for failure in failures)


def _of_client(
    row: Row,
    registry: Registry,
    ways: Collection[Way],
    reach: Mapping[tuple[str, str], frozenset[str]],
) -> Iterator[str]:
    client = find_entry(registry, str(row.client))
    for expected, names in ((True, row.can), (False, row.cannot)):
        for name in names:
            named, _, value = name.partition(" ")
            api = find_api(registry, named)
            scope = value or None
            unknown = [*find_unknown(registry, client, api, scope)]
            held = reach.get((client, api), frozenset())
            can = bool(held) if scope is None else scope in held
            if unknown:
                yield "; ".join(unknown)
            elif expected and not can:
                missing = missing_conditions(registry, ways, client, api, scope)
                yield f"{client} cannot get a token for {name}: {'; '.join(missing)}"
            elif can and not expected:
                kinds = sorted({w.kind for w in ways if (w.client_id, w.api) == (client, api)})
                yield f"{client} can get a token for {name}: {', '.join(kinds)}"


def _of_api(row: Row, registry: Registry, ways: Collection[Way]) -> Iterator[str]:
    api = find_api(registry, str(row.api))
    for client in row.only or (next(iter(registry.clients), ""),):
        unknown = [*find_unknown(registry, client, api)]
        if unknown:
            yield "; ".join(unknown)
            return
    able = {way.client_id for way in ways if way.api == api}
    for client in sorted(able.difference(row.only)):
        yield f"{client} can get a token for {api}, and is not among only"
    for client in sorted(set(row.only) - able):
        missing = missing_conditions(registry, ways, client, api, None)
        yield f"{client} cannot get a token for {api}: {'; '.join(missing)}"
