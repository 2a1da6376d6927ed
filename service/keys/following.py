"""Following the keys: how soon a replica notices what time, the schedule or another replica has changed."""

from __future__ import annotations

import asyncio
from typing import Never

import structlog

from service.keys.key_source import KeySource

log = structlog.stdlib.get_logger(__name__)

INTERVAL = 4
"""Seconds between two looks; a change of `keys rotate` or `keys retire` counts everywhere within ten."""

LEAD = INTERVAL + 2
"""Seconds by which every replica publishes a key that is to sign at once, before one signs with it."""


async def follow(source: KeySource) -> Never:
    """Keep the ring up to date until the task is cancelled."""
    while True:
        await asyncio.sleep(INTERVAL)
        try:
            await source.refresh()
        except Exception:
            log.exception("signing keys were not refreshed")
