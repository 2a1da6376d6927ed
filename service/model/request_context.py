"""The context of the request that is being answered: what its log lines, events and spans name it by."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextvars import ContextVar
from typing import Any

import msgspec

from service.model.factors import Factors


class CurrentRequest(msgspec.Struct):
    """A request that is being answered; in one variable of the context, because each costs time to set."""

    id: str
    store_seconds: float
    """The seconds that it may still wait for Redis; other waiting is not counted."""
    message: object = None
    """The request itself, for the function below: nearly none needs to bind both."""
    find_address: Callable[[Any], str] | None = None
    """Finds the address that a request comes from; None where nothing asks for it."""
    client_key: Mapping[str, str] | None = None
    """The key that has authenticated its client: `kid` of an assertion's key, or `x5t#S256` of a certificate."""
    factors: dict[str, Factors] | None = None
    """The second factors of users that it has read, by `sub`."""


current_request: ContextVar[CurrentRequest | None] = ContextVar("request", default=None)
"""The request that is being answered, if there is one."""

current_traceparent: ContextVar[str | None] = ContextVar("traceparent", default=None)
"""The present span for other servers (W3C Trace Context §3.2); None where nothing is traced."""


def caller() -> str:
    """Return the address that the current request comes from; empty where nothing asks for it."""
    request = current_request.get()
    if request is None or request.find_address is None:
        return ""
    return request.find_address(request.message)


def read_factors() -> dict[str, Factors]:
    """Return the second factors that the current request has read, to be added to; none without a request."""
    request = current_request.get()
    if request is None:
        return {}
    if request.factors is None:
        request.factors = {}
    return request.factors


def request_id() -> str | None:
    """Return the id of the current request, if there is one."""
    request = current_request.get()
    return None if request is None else request.id


def trace_id() -> str | None:
    """Return the id of the trace that the present span belongs to (W3C Trace Context §3.2.2.3)."""
    traceparent = current_traceparent.get()
    return None if traceparent is None else traceparent.split("-")[1]
