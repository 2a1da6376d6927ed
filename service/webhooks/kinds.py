"""Finds the events that a webhook gets, by names and patterns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase

from service.events.event import Event, event_name, find_kinds

WILDCARD = "*"


def find_sent() -> Mapping[str, type[Event]]:
    """Return the kinds of events that webhooks may get, by name."""
    return {event_name(kind): kind for kind in find_kinds() if kind.webhooks != "never"}


def find_matches(entry: str, sent: Mapping[str, type[Event]]) -> tuple[type[Event], ...]:
    """Return the kinds that an entry of `kinds` means: a pattern matches none that has to be named."""
    if WILDCARD not in entry:
        return (sent[entry],) if entry in sent else ()
    return tuple(
        kind for name, kind in sent.items() if kind.webhooks == "pattern" and _matches(name, entry)
    )


def find_to_be_named(entry: str, sent: Mapping[str, type[Event]]) -> tuple[str, ...]:
    """Return the names that a pattern would match if they had not to be written one by one."""
    return tuple(
        name for name, kind in sent.items() if kind.webhooks == "name" and _matches(name, entry)
    )


def find_wanted(entries: Iterable[str]) -> frozenset[type[Event]]:
    """Return all kinds that a webhook gets."""
    sent = find_sent()
    return frozenset(kind for entry in entries for kind in find_matches(entry, sent))


def _matches(name: str, pattern: str) -> bool:
    return fnmatchcase(name, pattern.replace("[", "[[]").replace("?", "[?]"))
