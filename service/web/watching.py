"""When does a file change? Found by looking, because that works on every file system and mounted ConfigMap."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

INTERVAL = 1
"""Seconds between two looks."""


async def changes(path: Path) -> AsyncIterator[None]:
    """Yields after every change of the file or of what a link leads to."""
    seen = _stamp(path)
    while True:
        await asyncio.sleep(INTERVAL)
        stamp = _stamp(path)
        if stamp not in (seen, None):  # None: it is being replaced
            seen = stamp
            yield


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino, status.st_size
