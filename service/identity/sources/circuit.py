"""A circuit breaker for the system that users come from."""

from __future__ import annotations

from time import monotonic

TOLERATED = 3
"""Failures in a row until the circuit opens."""

PAUSE = 1.0
"""Seconds between two requests to an unavailable system."""


class Circuit:
    """Circuit breaker: fails fast while a system is unavailable, except for one request each second, which finds out whether it is back."""

    def __init__(self) -> None:
        self._failed = 0
        self._next = 0.0

    @property
    def is_open(self) -> bool:
        return self._failed >= TOLERATED

    def admits(self) -> bool:
        """Return whether the system may be asked now."""
        now = monotonic()
        if self.is_open and now < self._next:
            return False
        self._next = now + PAUSE
        return True

    def note_answer(self) -> bool:
        """Count an answer; return whether it was the first one after the system was away."""
        was_open, self._failed = self.is_open, 0
        return was_open

    def note_failure(self) -> int:
        """Count a failure; return how many there were in a row. From `TOLERATED` on the system counts as away."""
        self._failed += 1
        return self._failed
