"""When has something changed of what the configuration was read from?

Found by looking. A mounted ConfigMap or Secret changes by a swap of the link `..data`, which the file's own path leads
through: its notifications would have to be followed from link to link, and some file systems send none at all.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable

from service.config.files import FilesRead

INTERVAL = 0.5
"""Seconds between two looks."""


async def changes(files_read: Callable[[], FilesRead]) -> AsyncIterator[None]:
    """Yields once for every change that has rested for a look, so that nothing half-written is taken.

    Compared is with what the last reading saw, whatever came of it: then no change is missed while it went on, and a
    file that was refused is read again when it has been mended.
    """
    before = told = None
    while True:
        await asyncio.sleep(INTERVAL)
        read = files_read()
        now = await asyncio.to_thread(read.now)
        if now == before and now != told and read.differ_from(now):
            told = now
            yield
        before = now
