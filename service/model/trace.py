"""Of which trace is what happens now a part? Known without whoever makes the traces."""

from __future__ import annotations

from contextvars import ContextVar

current_traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
"""The present span, as others are told of it (W3C Trace Context §3.2); None where nothing is traced."""


def trace_id() -> str | None:
    """The trace that the present span belongs to (W3C Trace Context §3.2.2.3)."""
    traceparent = current_traceparent.get()
    return None if traceparent is None else traceparent.split("-")[1]
