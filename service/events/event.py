"""The base class of events, which says how an event is logged, counted and documented."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import ClassVar, Literal

import msgspec

from service import events

Level = Literal["debug", "info", "warning"]
ByWebhooks = Literal["pattern", "name", "never"]
"""Whether the kind of an event goes to the webhooks whose patterns match it, only to those that name it, or to none."""

PERSONAL = frozenset({"address", "changes", "problems", "username", "value"})
"""Members with names and addresses of people, as changes of `allowed_users` and problems of `users.list` may have them; webhooks get them where their operator wants it."""

_WORD = re.compile(r"(?<=[a-z])(?=[A-Z])")


class EventCounter(msgspec.Struct, frozen=True):
    """The Prometheus counter of an event."""

    name: str
    """Without the namespace of this service before it, and `_total` after it."""
    text: str
    """The help text, which is also the description in docs/reference/audit-events.md."""
    labels: tuple[str, ...] = ()
    """Members of the event. A label that a caller can invent values for is limited in observe/metrics.py."""


class Event(msgspec.Struct, frozen=True):
    """Something that happened.

    To add an event, write one subclass in the file of its topic. The docstring says when it happens: `make docs` copies
    it to docs/reference/audit-events.md, with the members and the counter.
    """

    level: ClassVar[Level] = "info"
    """`warning`: an operator should look into it. `debug`: it happens all day."""
    counter: ClassVar[EventCounter | None] = None
    webhooks: ClassVar[ByWebhooks] = "pattern"
    """`name`: anyone can cause it, as often as they want, or it happens with each token."""


@cache
def event_name(kind: type[Event]) -> str:
    """Return the name of an event in the log: `token_issued` for `TokenIssued`."""
    return _WORD.sub("_", kind.__name__).lower()


def find_kinds() -> tuple[type[Event], ...]:
    """Import every file of events, and return their kinds in the order of the files."""
    return tuple(
        kind
        for topic in iter_modules(events.__path__)
        for kind in vars(import_module(f"{events.__name__}.{topic.name}")).values()
        if isinstance(kind, type) and issubclass(kind, Event) and kind is not Event
    )


Emit = Callable[[Event], None]
"""Emits an event to all listeners; it never fails and never waits. Extension grants may emit objects of other classes."""
