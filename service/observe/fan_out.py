"""How does one event reach every listener?"""

from __future__ import annotations

import asyncio

import structlog

from service.model.events import Emit, current_request_id

log = structlog.stdlib.get_logger(__name__)


class FanOut:
    """An `Emit` that tells all listeners, those of one turn of the event loop one after the other.

    Told together, they find their code and tables in the processor's caches from the second event
    on. One that fails is logged, and hurts neither the others nor the request.
    """

    def __init__(self, *listeners: Emit) -> None:
        self._listeners = listeners
        self._waiting: list[tuple[object, str | None]] = []

    def __call__(self, event: object) -> None:
        """Tell everyone, in order, before the loop waits again; at once where no loop runs."""
        self._waiting.append((event, current_request_id.get()))
        if len(self._waiting) > 1:
            return
        try:
            asyncio.get_running_loop().call_soon(self.flush)
        except RuntimeError:
            self.flush()

    def flush(self) -> None:
        """Tell what waits, each event with the id of its request."""
        waiting, self._waiting = self._waiting, []
        for event, request_id in waiting:
            current_request_id.set(request_id)
            for listener in self._listeners:
                try:
                    listener(event)
                except Exception:
                    log.exception("a listener failed", event_kind=type(event).__name__)
