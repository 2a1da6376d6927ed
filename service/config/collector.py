"""How the garbage collector is kept from what it can gain nothing by."""

from __future__ import annotations

import gc
from collections.abc import Generator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Generator[None]:
    """Make very many objects, none of them garbage: the collector would look at all of them again and again.

    Measured with 10,000 clients, it takes a sixth of the time, in stalls of up to 70 ms for all threads.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
