"""All kinds of what is stored, as the table of the stores names them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, cast

import msgspec

from service.store.lanes import Lanes
from service.store.records import Index, Queue, Records
from service.store.stores import OutboxRecords, Stores

STORES = Stores(cast("Any", None), prefix="ts")


def find_kinds() -> Iterator[tuple[str, Records[Any] | Index | Queue]]:
    """Yield each kind by its name in the table; of an outbox those that it has."""
    for name, kind in vars(STORES).items():
        if isinstance(kind, OutboxRecords):
            for part, value in msgspec.structs.asdict(kind).items():
                yield f"{name}.{part}", value.heads if isinstance(value, Lanes) else value
        elif isinstance(kind, Records | Index | Queue):
            yield name, kind
