"""Compares what two registries allow: the scope values that a client can newly reach, and those that it no longer can."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from service.cli.ways.drawing import Edge
from service.cli.ways.finding import Way
from service.cli.ways.places import Places


def gained_ways(before: Iterable[Way], after: Iterable[Way], places: Places) -> Iterator[Edge]:
    """Yield the ways by which `after` reaches what `before` does not, cut to the new scope values; turned round, what is lost."""
    reached: dict[tuple[str, str], frozenset[str]] = {}
    for way in before:
        key = (way.client_id, way.api)
        reached[key] = reached.get(key, frozenset()) | way.scope
    for way in after:
        gained = way.scope - reached.get((way.client_id, way.api), frozenset())
        if gained:
            yield Edge(replace(way, scope=gained), places.way(way))
