"""Draws ways as a graph: Graphviz, Mermaid, JSON, or SVG that needs no other program."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from service.cli.ways.finding import Kind, Way
from service.protocol.scope import format_scope

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
_LINE, _WIDTH, _GAP = 34, 220, 420
_STYLE = 'role="img" font-family="sans-serif" font-size="13"'


class Edge(NamedTuple):
    """A way with the file and line that allows it."""

    way: Way
    place: str

    @property
    def label(self) -> str:
        """The kind of the way, its scope values, and the line of the file."""
        users = f" of users of {' or '.join(self.way.sources)}" if self.way.sources else ""
        return f"{WORDS[self.way.kind]}{users}: {format_scope(self.way.scope)} ({self.place})"


def as_json(edges: Sequence[Edge]) -> str:
    """Return a list of objects."""
    return json.dumps([edge_members(edge) for edge in edges], indent=2)


def edge_members(edge: Edge) -> dict[str, object]:
    """Return a way as a JSON object."""
    way = edge.way
    return {
        "client": way.client_id,
        "api": way.api,
        "by": way.kind,
        "grant_types": list(way.grant_types),
        "scope": sorted(way.scope),
        "users_of": list(way.sources),
        "place": edge.place,
    }


def as_dot(edges: Sequence[Edge]) -> str:
    """Return the graph in Graphviz' language."""
    lines = [
        f"  {_quoted('client ' + edge.way.client_id)} -> {_quoted('API ' + edge.way.api)}"
        f" [label={_quoted(edge.label)}, color={_quoted(_COLOURS[edge.way.kind])}];"
        for edge in edges
    ]
    return "\n".join(["digraph reach {", "  rankdir=LR;", "  node [shape=box];", *lines, "}"])


def as_mermaid(edges: Sequence[Edge]) -> str:
    """Return the graph as Mermaid draws it in Markdown."""
    clients, apis = _names(edges)
    lines = [f'  c{at}["{escape(name)}"]' for at, name in enumerate(clients)]
    lines += [f'  a{at}(["{escape(name)}"])' for at, name in enumerate(apis)]
    lines += [
        f'  c{clients[edge.way.client_id]} -->|"{escape(edge.label)}"| a{apis[edge.way.api]}'
        for edge in edges
    ]
    return "\n".join(["flowchart LR", *lines])


def as_svg(edges: Sequence[Edge]) -> str:
    """Return a picture: clients at the left, APIs at the right; a browser shows the label of the line it points to."""
    clients, apis = _names(edges)
    rows = max(len(clients), len(apis), 1)
    width, height = 2 * _WIDTH + _GAP, _LINE * (rows + len(WORDS) // 2) + _LINE
    shapes = [_line(edge, clients[edge.way.client_id], apis[edge.way.api]) for edge in edges]
    shapes += [_box(name, 0, at, 4) for name, at in clients.items()]
    shapes += [_box(name, _WIDTH + _GAP, at, 13) for name, at in apis.items()]
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


FORMATS: Mapping[str, Callable[[Sequence[Edge]], str]] = {
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


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _box(name: str, left: int, row: int, round_by: int) -> str:
    top = _LINE * row + 6
    return (
        f'<rect x="{left + 4}" y="{top}" width="{_WIDTH - 8}" height="26" rx="{round_by}"'
        ' fill="#f4f4f1" stroke="#444"/>'
        f'<text x="{left + _WIDTH // 2}" y="{top + 18}" text-anchor="middle">{escape(name)}</text>'
    )


def _line(edge: Edge, client: int, api: int) -> str:
    left, right = _WIDTH - 4, _WIDTH + _GAP + 4
    begin, end = _LINE * client + 19, _LINE * api + 19
    bend = (left + right) // 2
    title = escape(f"{edge.way.client_id} -> {edge.way.api} {edge.label}")
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
