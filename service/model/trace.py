"""The trace of the present work, without knowledge of the library that makes traces."""

from __future__ import annotations

from contextvars import ContextVar

current_traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
"""The present span for other servers (W3C Trace Context §3.2); None where nothing is traced."""


def trace_id() -> str | None:
    """Return the id of the trace that the present span belongs to (W3C Trace Context §3.2.2.3)."""
    traceparent = current_traceparent.get()
    return None if traceparent is None else traceparent.split("-")[1]
