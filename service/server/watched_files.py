"""When has something changed of what the configuration was read from?

Found by looking. A mounted ConfigMap or Secret changes by a swap of the link `..data`, which the file's own path leads
through: its notifications would have to be followed from link to link, and some file systems send none at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from time import monotonic

from service.config.reading.files import FilesRead

INTERVAL = 0.5
"""Seconds between two looks."""

REST = 50
"""How many times as long as a look the pause after it is at least, where there are thousands of files."""


async def changes(files_read: Callable[[], FilesRead]) -> AsyncIterator[None]:
    """Yields once for every change that has rested for a look, so that nothing half-written is taken.

    Compared is with what the last reading saw, whatever came of it: then no change is missed while it went on, and a
    file that was refused is read again when it has been mended.
    """
    before = told = None
    took = 0.0
    while True:
        await asyncio.sleep(max(INTERVAL, REST * took))
        read, began = files_read(), monotonic()
        now = await asyncio.to_thread(read.now)
        took = monotonic() - began
        if now == before and now != told and read.differ_from(now):
            told = now
            yield
        before = now
