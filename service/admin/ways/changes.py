"""Compares what two configurations allow: the scope values that somebody can newly reach, and those that nobody there can any more.

Who reaches an API is a client of the registry, the workloads that a rule makes clients, or everybody with permission to register.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import NamedTuple

from msgspec.structs import replace

from service.admin.ways.drawing import Edge
from service.admin.ways.finding import AllowedScopes, Way, find_ways
from service.admin.ways.places import Places, find_workloads
from service.config.configuration import Configuration
from service.config.reading.source import Source
from service.model.client import Client


class Reach(NamedTuple):
    """A way, and what looks up the file and line that allows it."""

    way: Way
    find_place: Callable[[], str]


def find_reach(configuration: Configuration, source: Source) -> Iterator[Reach]:
    """Yield every way of everybody, named instead of the client: workloads each with the rule that makes them clients."""
    registry = configuration.registry
    places = Places(registry)
    workloads = find_workloads(registry)
    for way in find_ways(registry):
        if not registry.clients[way.client_id].template:
            yield Reach(way, partial(places.way, way))
        for each in workloads.get(way.client_id, ()):
            party = f"{way.client_id} as {each.issuer} {each.label}"
            yield Reach(replace(way, client_id=party), partial(source.find_line, each.location))
    yield from _unlisted_clients(configuration, source)


def gained_edges(before: Iterable[Reach], after: Iterable[Reach]) -> Iterator[Edge]:
    """Yield the ways by which `after` reaches what `before` does not, cut to the new scope values; turned round, what is lost."""
    reached: dict[tuple[str, str], frozenset[str]] = {}
    for way, _ in before:
        key = (way.client_id, way.api)
        reached[key] = reached.get(key, frozenset()) | way.scope
    for way, find_place in after:
        gained = way.scope - reached.get((way.client_id, way.api), frozenset())
        if gained:
            yield Edge(replace(way, scope=gained), find_place())


def _unlisted_clients(configuration: Configuration, source: Source) -> Iterator[Reach]:
    """Yield the ways of clients that are not in the file."""
    registration, documents = configuration.registration, configuration.client_id_metadata
    opened = {
        "registration": (
            registration.enabled,
            "clients that register with an initial access token"
            if registration.initial_access_token_sha256
            else "clients that register",
            registration.allowed_scopes,
        ),
        "client_id_metadata": (
            documents.enabled,
            "clients with a document at "
            + (", ".join(sorted(documents.allowed_hosts)) or "any host"),
            documents.allowed_scopes,
        ),
    }
    allowed = AllowedScopes(configuration.registry)
    for section, (enabled, party, scope) in opened.items():
        anybody = Client(client_id=party, allowed_scopes=scope, dynamically_registered=True)
        for api, values in allowed.find(anybody).items() if enabled else ():
            way = Way(client_id=party, api=api, kind="direct", grant_types=(), scope=values)
            yield Reach(way, partial(source.find_line, (section,)))
