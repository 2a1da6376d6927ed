"""All kinds of events, in the order of their files."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from service import events
from service.events.event import Event


def find_kinds() -> tuple[type[Event], ...]:
    """Import every file of events, and return their kinds."""
    return tuple(
        kind
        for topic in iter_modules(events.__path__)
        for kind in vars(import_module(f"{events.__name__}.{topic.name}")).values()
        if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
    )
