"""Lays out the picture of who can reach what: clients at the left, APIs at the right, a curve for each way."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from urllib.parse import quote

import msgspec

from service.admin.ways.drawing import WayView

MOST_LINES = 60
"""Curves up to which a picture can be read; beyond that the page lists ways, and offers a filter."""

MOST_NODES = 40

WIDTH, NODE, HEIGHT, STEP = 760, 232, 44, 54
_LONGEST = 27
"""Characters of a name that a box has room for."""


Pair = tuple[str, str]
Places = Mapping[str, int]


class Node(msgspec.Struct, frozen=True, kw_only=True):
    """A box with a name, which leads to a page."""

    name: str
    text: str
    """The name as far as there is room."""
    note: str
    href: str
    x: int
    y: int


class Line(msgspec.Struct, frozen=True, kw_only=True):
    """A curve from a client to an API."""

    path: str
    by: str
    title: str


class Picture(msgspec.Struct, frozen=True, kw_only=True):
    """All that the template draws."""

    clients: Sequence[Node]
    apis: Sequence[Node]
    lines: Sequence[Line]
    kinds: Mapping[str, str]
    """The kinds of ways in it, each in words, for the legend."""
    height: int
    width: int = WIDTH
    node: int = NODE
    node_height: int = HEIGHT


def draw(ways: Sequence[WayView]) -> Picture | None:
    """Return the picture; None without a way, or where nobody could read it."""
    pairs = [(way.client, way.api) for way in ways]
    clients = dict.fromkeys(client for client, _ in pairs)
    apis = _sort_by_mean(pairs, _one_below_the_other(clients))
    rows = max(len(clients), len(apis))
    if not ways or len(ways) > MOST_LINES or rows > MOST_NODES:
        return None
    left, right = _place(pairs, clients, apis)
    counts = {name: len({way.api for way in ways if way.client == name}) for name in clients}
    scopes = {name: _scopes_of(name, ways) for name in apis}
    return Picture(
        clients=[
            _node(name, x=0, y=left[name], note=_plural(counts[name], "API"), href="/client?id=")
            for name in clients
        ],
        apis=[
            _node(name, x=WIDTH - NODE, y=right[name], note=scopes[name], href="/api?name=")
            for name in apis
        ],
        lines=[*_lines(ways, left, right)],
        kinds={way.by: way.how for way in ways},
        height=rows * STEP - (STEP - HEIGHT),
    )


def _place(
    pairs: Sequence[Pair], clients: Collection[str], apis: Sequence[str]
) -> tuple[Places, Places]:
    """Return the tops of the boxes; those of the shorter column are near to what they have ways with."""
    if len(clients) >= len(apis):
        left = _one_below_the_other(clients)
        return left, _place_near(apis, _means(pairs, left), rows=len(clients))
    right, turned = _one_below_the_other(apis), [(api, client) for client, api in pairs]
    ordered = _sort_by_mean(turned, right)
    return _place_near(ordered, _means(turned, right), rows=len(apis)), right


def _one_below_the_other(names: Iterable[str]) -> Places:
    return {name: at * STEP for at, name in enumerate(names)}


def _means(pairs: Iterable[Pair], places: Places) -> Mapping[str, float]:
    """Return for each second name the mean place of the first names that it is paired with."""
    found: dict[str, list[int]] = {}
    for one, other in pairs:
        found.setdefault(other, []).append(places[one])
    return {name: sum(its) / len(its) for name, its in found.items()}


def _sort_by_mean(pairs: Iterable[Pair], places: Places) -> list[str]:
    """Return the second names in an order in which few curves cross."""
    means = _means(pairs, places)
    return sorted(means, key=lambda name: (means[name], name))


def _place_near(names: Sequence[str], wanted: Mapping[str, float], *, rows: int) -> Places:
    """Return the tops of boxes, each as near to where it is wanted as there is room in so many rows."""
    found, free = dict[str, int](), 0
    for at, name in enumerate(names):
        last = (rows - len(names) + at) * STEP
        found[name] = min(max(round(wanted[name]), free), last)
        free = found[name] + STEP
    return found


def _lines(ways: Iterable[WayView], left: Places, right: Places) -> Iterable[Line]:
    """Yield the curves; several ways between two boxes leave them next to each other."""
    between: dict[tuple[str, str], int] = {}
    for way in ways:
        pair = (way.client, way.api)
        between[pair] = at = between.get(pair, -1) + 1
        shift = (at + 1) // 2 * (1 if at % 2 else -1) * 7
        begin, end = left[way.client] + HEIGHT // 2 + shift, right[way.api] + HEIGHT // 2 + shift
        start, stop = NODE, WIDTH - NODE
        bend = (start + stop) // 2
        yield Line(
            path=f"M{start} {begin}C{bend} {begin} {bend} {end} {stop} {end}",
            by=way.by,
            title=f"{way.client} → {way.api}: {' '.join(sorted(way.scope))}",
        )


def _node(name: str, *, x: int, y: int, note: str, href: str) -> Node:
    text = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    return Node(name=name, text=text, note=note, href=href + quote(name, safe=""), x=x, y=y)


def _scopes_of(api: str, ways: Iterable[WayView]) -> str:
    values = sorted({value for way in ways if way.api == api for value in way.scope})
    text = " ".join(values)
    return text if len(text) <= _LONGEST + 6 else _plural(len(values), "scope")


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
