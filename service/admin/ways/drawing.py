"""Draws ways as a graph: Graphviz, Mermaid, JSON, or SVG that needs no other program."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

import msgspec

from service.admin.ways.finding import Kind, Way
from service.admin.ways.places import ByClient

WORDS: Mapping[Kind, str] = {
    "direct": "directly",
    "delegation": "by delegation",
    "exchange": "by exchange",
    "extension": "by an extension grant",
}
_COLOURS: Mapping[Kind, str] = {
    "direct": "#2f6f8f",
    "delegation": "#8f5a2f",
    "exchange": "#6b3fa0",
    "extension": "#3f7f3f",
}
_LINE, _SMALL, _WIDTH, _GAP = 34, 14, 220, 420
_STYLE = 'role="img" font-family="sans-serif" font-size="13"'


class WayView(msgspec.Struct, frozen=True, kw_only=True):
    """A way in which a client can get tokens for an API."""

    client: str
    api: str
    by: Kind
    grant_types: tuple[str, ...]
    scope: tuple[str, ...]
    """The scope values of the API that the tokens can hold."""
    users_of: tuple[str, ...]
    """The APIs whose users' tokens can be exchanged; empty where the client needs none."""
    place: str
    """File and line that allow it."""

    @property
    def how(self) -> str:
        """The kind of the way in words."""
        return WORDS[self.by]

    @property
    def label(self) -> str:
        """The kind of the way, its scope values, and the line of the file."""
        users = f" of users of {' or '.join(self.users_of)}" if self.users_of else ""
        return f"{self.how}{users}: {' '.join(self.scope)} ({self.place})"


class Edge(NamedTuple):
    """A way with the file and line that allows it."""

    way: Way
    place: str

    @property
    def view(self) -> WayView:
        """The way as JSON shows it."""
        way = self.way
        return WayView(
            client=way.client_id,
            api=way.api,
            by=way.kind,
            grant_types=way.grant_types,
            scope=tuple(sorted(way.scope)),
            users_of=way.sources,
            place=self.place,
        )


def as_json(edges: Sequence[Edge], workloads: ByClient) -> str:
    """Return a list of objects."""
    shown = [
        msgspec.to_builtins(edge.view)
        | {"workloads": [each.members for each in workloads.get(edge.way.client_id, ())]}
        for edge in edges
    ]
    return json.dumps(shown, indent=2)


def as_dot(edges: Sequence[Edge], workloads: ByClient) -> str:
    """Return the graph in Graphviz' language."""
    clients, _ = _names(edges)
    lines = [
        f"  {_quote('client ' + name)} [label={_quote(chr(10).join(['client ' + name, *patterns]))}];"
        for name in clients
        if (patterns := _patterns(name, workloads))
    ]
    lines += [
        f"  {_quote('client ' + edge.way.client_id)} -> {_quote('API ' + edge.way.api)}"
        f" [label={_quote(edge.view.label)}, color={_quote(_COLOURS[edge.way.kind])}];"
        for edge in edges
    ]
    return "\n".join(["digraph reach {", "  rankdir=LR;", "  node [shape=box];", *lines, "}"])


def as_mermaid(edges: Sequence[Edge], workloads: ByClient) -> str:
    """Return the graph as Mermaid draws it in Markdown."""
    clients, apis = _names(edges)
    lines = [
        f'  c{at}["{"<br>".join(map(escape, [name, *_patterns(name, workloads)]))}"]'
        for at, name in enumerate(clients)
    ]
    lines += [f'  a{at}(["{escape(name)}"])' for at, name in enumerate(apis)]
    lines += [
        f'  c{clients[edge.way.client_id]} -->|"{escape(edge.view.label)}"| a{apis[edge.way.api]}'
        for edge in edges
    ]
    return "\n".join(["flowchart LR", *lines])


def as_svg(edges: Sequence[Edge], workloads: ByClient) -> str:
    """Return a picture: clients at the left, APIs at the right; a browser shows the label of the line it points to."""
    clients, apis = _names(edges)
    patterns = {name: _patterns(name, workloads) for name in clients}
    rows: dict[str, int] = {}
    end = 0
    for name, shown in patterns.items():
        rows[name] = end
        end += _LINE + _SMALL * len(shown)
    bottom = max(end, _LINE * len(apis), _LINE)
    width, height = 2 * _WIDTH + _GAP, bottom + _LINE * (len(WORDS) // 2 + 1)
    shapes = [_line(edge, rows[edge.way.client_id], _LINE * apis[edge.way.api]) for edge in edges]
    shapes += [_box(name, 0, top, 4, patterns[name]) for name, top in rows.items()]
    shapes += [_box(name, _WIDTH + _GAP, _LINE * at, 13) for name, at in apis.items()]
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" {_STYLE}>',
            "<title>Clients, and the APIs that they can get tokens for</title>",
            '<rect width="100%" height="100%" fill="#fff"/>',
            *shapes,
            *(_legend(kind, at, height) for at, kind in enumerate(WORDS)),
            "</svg>",
        ]
    )


FORMATS: Mapping[str, Callable[[Sequence[Edge], ByClient], str]] = {
    "dot": as_dot,
    "mermaid": as_mermaid,
    "json": as_json,
    "svg": as_svg,
}


def _names(edges: Sequence[Edge]) -> tuple[dict[str, int], dict[str, int]]:
    """Return the rows of clients and APIs."""
    clients = dict.fromkeys(edge.way.client_id for edge in edges)
    apis = sorted({edge.way.api for edge in edges})
    return {name: at for at, name in enumerate(clients)}, {name: at for at, name in enumerate(apis)}


def _patterns(client_id: str, workloads: ByClient) -> list[str]:
    return [each.label for each in workloads.get(client_id, ())]


def _quote(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _box(name: str, left: int, top: int, round_by: int, patterns: Sequence[str] = ()) -> str:
    middle = left + _WIDTH // 2
    small = [
        f'<text x="{middle}" y="{top + 24 + _SMALL * at}" text-anchor="middle" font-size="10"'
        f"{_fit_width(pattern)}>{escape(pattern)}</text>"
        for at, pattern in enumerate(patterns, 1)
    ]
    return (
        f'<rect x="{left + 4}" y="{top + 6}" width="{_WIDTH - 8}" height="{26 + _SMALL * len(small)}"'
        f' rx="{round_by}" fill="#f4f4f1" stroke="#444"/>'
        f'<text x="{middle}" y="{top + 24}" text-anchor="middle">{escape(name)}</text>'
        + "".join(small)
    )


def _fit_width(text: str) -> str:
    """Return what makes a long text as wide as its box."""
    wide = _WIDTH - 16
    return f' textLength="{wide}" lengthAdjust="spacingAndGlyphs"' if 5 * len(text) > wide else ""


def _line(edge: Edge, client: int, api: int) -> str:
    left, right = _WIDTH - 4, _WIDTH + _GAP + 4
    begin, end = client + 19, api + 19
    bend = (left + right) // 2
    title = escape(f"{edge.way.client_id} -> {edge.way.api} {edge.view.label}")
    return (
        f'<path d="M{left} {begin}C{bend} {begin} {bend} {end} {right} {end}" fill="none"'
        f' stroke="{_COLOURS[edge.way.kind]}" stroke-width="2"><title>{title}</title></path>'
    )


def _legend(kind: Kind, at: int, height: int) -> str:
    left, top = 10 + 210 * at, height - 14
    return (
        f'<path d="M{left} {top - 4}h24" stroke="{_COLOURS[kind]}" stroke-width="3"/>'
        f'<text x="{left + 32}" y="{top}">{WORDS[kind]}</text>'
    )
