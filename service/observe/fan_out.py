"""How does one event reach every listener?"""

from __future__ import annotations

import asyncio
from contextvars import Context, copy_context

import structlog

from service.model.events import Emit

log = structlog.stdlib.get_logger(__name__)


def both(first: Emit, second: Emit) -> Emit:
    """An `Emit` that tells two listeners at once, where it happens."""

    def told(event: object) -> None:
        first(event)
        second(event)

    return told


class FanOut:
    """An `Emit` that tells all listeners, those of one turn of the event loop one after the other.

    Told together, they find their code and tables in the processor's caches from the second event
    on. One that fails is logged, and hurts neither the others nor the request.
    """

    def __init__(self, *listeners: Emit) -> None:
        self._listeners = listeners
        self._waiting: list[tuple[Context, object]] = []
        self._loop: asyncio.AbstractEventLoop | None = None

    def __call__(self, event: object) -> None:
        """Tell everyone, in order, before the loop waits again; at once where no loop runs."""
        context = copy_context()
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            self._tell_from_elsewhere(context, event)
            return
        self._loop = loop
        self._waiting.append((context, event))
        if len(self._waiting) == 1:
            loop.call_soon(self.flush)

    def _tell_from_elsewhere(self, context: Context, event: object) -> None:
        """Tell in the loop's thread, as listeners expect, what another thread says, such as a reload's.

        Only the loop's own thread touches what waits: two that did would each leave the telling to the other.
        """
        if self._loop is not None and self._loop.is_running():
            self._loop.call_soon_threadsafe(self._tell, event, context=context)
        else:
            self.flush()
            context.run(self._tell, event)

    def flush(self) -> None:
        """Tell what waits, each event where it happened: in its request, and in its span."""
        waiting, self._waiting = self._waiting, []
        for context, event in waiting:
            context.run(self._tell, event)

    def _tell(self, event: object) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed", event_kind=type(event).__name__)
