"""Hands each event to all listeners."""

from __future__ import annotations

import asyncio
from contextvars import Context, copy_context

import structlog

from service.model.events import Emit

log = structlog.stdlib.get_logger(__name__)


class FanOut:
    """An `Emit` that calls all listeners at the end of the event loop's turn, so that they find their code in the CPU's cache.

    A listener that fails is logged, and affects neither the other listeners nor the request.
    """

    def __init__(self, *listeners: Emit) -> None:
        self._listeners = listeners
        self._waiting: list[tuple[Context, object]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self, event: object) -> None:
        """Call the listeners before the loop waits again; immediately if no loop runs."""
        context = copy_context()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._emit_from_thread(context, event)
            return
        self._loop = loop
        self._waiting.append((context, event))
        if len(self._waiting) == 1:
            loop.call_soon(self.flush)

    def _emit_from_thread(self, context: Context, event: object) -> None:
        """Call the listeners in the loop's thread, which alone may touch what waits."""
        if self._loop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._tell, event, context=context)
        else:
            self.flush()
            context.run(self._tell, event)

    def flush(self) -> None:
        """Call the listeners for each waiting event, in the context of its request and span."""
        waiting, self._waiting = self._waiting, []
        for context, event in waiting:
            context.run(self._tell, event)

    def _tell(self, event: object) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed", event_kind=type(event).__name__)
