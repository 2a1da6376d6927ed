"""Explains a request by the log lines that have its id."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, cast

import orjson

from service.cli.explained_request import Rows, explain_value
from service.parts import Parts
from service.protocol.refused_value import RefusedValue

Line = dict[str, Any]


def lines_of(request_id: str, log: Iterable[bytes]) -> Iterator[Line]:
    """Find the lines of JSON of this request; text before the JSON, such as a pod's name, is skipped."""
    sought = request_id.encode()
    for line in log:
        if sought not in line:
            continue
        try:
            found: object = orjson.loads(line[max(line.find(b"{"), 0) :])
        except orjson.JSONDecodeError:
            continue
        if isinstance(found, dict) and cast("Line", found).get("request_id") == request_id:
            yield cast("Line", found)


async def explain_line(parts: Parts, line: Line) -> Rows:
    """Return what a log line says, and for a refused value the registered ones."""
    rows = [(name, _text(value)) for name, value in line.items() if value is not None]
    named = {name: line.get(name) for name in ("parameter", "value", "client_id")}
    if not named["parameter"] or not all(isinstance(each, str | None) for each in named.values()):
        return rows
    refused = RefusedValue(**named)
    registered = await explain_value(parts, refused)
    return rows + [row for row in registered if row[0] not in {"parameter", "sent"}]


def _text(value: object) -> str:
    return (
        " ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
    )
