"""Cuts long work into steps, between which other requests have their turn of the event loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

STEP = 50
"""Records that are read or commands that are sent at once: some milliseconds of work."""


def steps(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """Return the items, so many at a time as one step has; each step must wait for the store."""
    return (items[first : first + STEP] for first in range(0, len(items), STEP))
