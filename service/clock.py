"""The present time, for everything that is dated or expires."""

from __future__ import annotations

from math import floor
from time import time


def clock() -> int:
    """Return the present time in whole seconds since the epoch."""
    return floor(time())  # `int` takes longer
