"""The context of the request that is being answered: what its log lines, events and spans name it by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar

current_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered, if there is one."""

current_traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
"""The present span for other servers (W3C Trace Context §3.2); None where nothing is traced."""

current_client_key: ContextVar[Mapping[str, str] | None] = ContextVar("client_key", default=None)
"""What has authenticated the client of the request: `kid` of an assertion's key, or `x5t#S256` of a certificate."""

current_caller: ContextVar[Callable[[], str] | None] = ContextVar("caller", default=None)
"""Finds the address that the request comes from; None outside a request, and where nothing asks for it."""


def trace_id() -> str | None:
    """Return the id of the trace that the present span belongs to (W3C Trace Context §3.2.2.3)."""
    traceparent = current_traceparent.get()
    return None if traceparent is None else traceparent.split("-")[1]
