"""The present time, for everything that is dated or expires."""

from __future__ import annotations

from datetime import UTC, datetime
from math import floor
from time import time


def clock() -> int:
    """Return the present time in whole seconds since the epoch."""
    return floor(time())  # `int` takes longer


def time_of(at: int) -> datetime:
    """Return seconds since the epoch as a time in UTC."""
    return datetime.fromtimestamp(at, UTC)


def format_time(at: int) -> str:
    """Return seconds since the epoch as RFC 3339 writes them."""
    return time_of(at).strftime("%Y-%m-%dT%H:%M:%SZ")
