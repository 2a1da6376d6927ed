"""Answers which ways a registry has, and what is missing where it has no way."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from service.admin.ways.drawing import Edge, WayView
from service.admin.ways.finding import find_api, find_entry, find_ways
from service.admin.ways.missing import find_unknown, missing_conditions
from service.admin.ways.places import Places
from service.model.registry import Registry


class UnknownName(Exception):
    """A client or an API of this name does not exist; the message says which right one it is like."""


class WhyView(msgspec.Struct, frozen=True, kw_only=True):
    """The ways of a client to an API; without any, what would have to change."""

    ways: tuple[WayView, ...]
    missing: tuple[str, ...]


def find_edges(registry: Registry) -> tuple[Edge, ...]:
    """Return all ways, each with the file and line that allows it."""
    places = Places(registry)
    return tuple([Edge(way, places.way(way)) for way in find_ways(registry)])


def choose_edges(
    registry: Registry, edges: Sequence[Edge], client: str | None, api: str | None
) -> list[Edge]:
    """Return the ways of one client, or to one API, or both; raise UnknownName for a name of nothing."""
    named = find_entry(registry, client) if client else next(iter(registry.clients), "")
    api = api and find_api(registry, api)
    if wrong := (client or api) and "; ".join(find_unknown(registry, named, api)):
        raise UnknownName(wrong)
    return [
        edge
        for edge in edges
        if (not client or edge.way.client_id == named) and api in {None, edge.way.api}
    ]


def explain_reach(
    registry: Registry, edges: Sequence[Edge], client: str, api: str, scope: str | None
) -> WhyView:
    """Return the ways of a client to an API; with a scope value, those whose tokens can hold it."""
    client, api = find_entry(registry, client), find_api(registry, api)
    found = [
        edge.view
        for edge in edges
        if (edge.way.client_id, edge.way.api) == (client, api)
        and (scope is None or scope in edge.way.scope)
    ]
    ways = [edge.way for edge in edges]
    missing = () if found else missing_conditions(registry, ways, client, api, scope)
    return WhyView(ways=tuple(found), missing=missing)
