"""How does one event reach every listener?"""

from __future__ import annotations

import structlog

from service.model.events import Emit

log = structlog.stdlib.get_logger(__name__)


class FanOut:
    """An `Emit` that tells all listeners; one that fails is logged, and hurts neither the others nor the request."""

    def __init__(self, *listeners: Emit) -> None:
        self._listeners = listeners

    def __call__(self, event: object) -> None:
        """Tell everyone, in order."""
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed", event_kind=type(event).__name__)
