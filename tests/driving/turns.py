"""Measures by work, not by time, for how long the event loop serves one task without a turn for the others."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

_RUN = asyncio.events.Handle._run.__code__  # noqa: SLF001 - each turn of the loop is one call of it


class Turns:
    """Counts the calls of functions in each turn of the loop, but for those of the test itself."""

    def __init__(self) -> None:
        self.longest = 0
        self._calls = 0
        self._is_known = False
        self._own = asyncio.current_task()

    def count(self, frame: FrameType, event: str, _: Any) -> None:
        """Take what `sys.setprofile` tells."""
        if frame.f_code is _RUN and event != "c_call":
            if event == "call":
                self._calls = 0
            elif event == "return":
                self.longest = max(self.longest, self._calls)
            self._is_known = False
        elif event in {"call", "c_call"}:
            self._calls += 1
            if event == "call" and not self._is_known:
                self._is_known = True
                if asyncio.current_task() is self._own:
                    self._calls = -sys.maxsize


@contextmanager
def counted_turns() -> Iterator[Turns]:
    """Count while the block runs."""
    turns = Turns()
    sys.setprofile(turns.count)
    try:
        yield turns
    finally:
        sys.setprofile(None)
