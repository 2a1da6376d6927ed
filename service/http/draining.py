"""Is this process about to stop?"""

from __future__ import annotations


class Draining:
    """Begins at SIGTERM: no longer ready, but serving until the balancers have noticed."""

    def __init__(self) -> None:
        self.began = False

    def begin(self) -> None:
        """Turn readiness red, and every answer into the last one of its connection."""
        self.began = True
