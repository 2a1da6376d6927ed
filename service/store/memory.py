"""Watches how full Redis is, in the background."""

from __future__ import annotations

import asyncio
from typing import Never

import msgspec
import structlog

from service.store.keyvalue import KeyValue

LOOK_EVERY = 30
"""Seconds between two looks."""

NEARLY_FULL = 0.9
"""The share of `maxmemory` above which an operator has to act."""

log = structlog.stdlib.get_logger(__name__)


class StoreMemory(msgspec.Struct, kw_only=True):
    """The memory of Redis at the last look; of a Cluster, of the server nearest to its limit."""

    kv: KeyValue
    used: int | None = None
    """Bytes; None if Redis does not tell."""
    limit: int = 0
    """Bytes; 0 if there is no limit."""

    @property
    def is_nearly_full(self) -> bool:
        """Whether writes will soon be refused."""
        return self.used is not None and 0 < self.limit * NEARLY_FULL <= self.used

    async def follow(self) -> Never:
        while True:
            await self.refresh()
            await asyncio.sleep(LOOK_EVERY)

    async def refresh(self) -> None:
        """Ask Redis, and log a change."""
        before = self.is_nearly_full
        self.used, self.limit = await self.kv.read_memory() or (None, 0)
        if self.is_nearly_full and not before:
            log.warning("Redis is nearly full", used=self.used, maxmemory=self.limit)
        elif before and not self.is_nearly_full:
            log.info("Redis has room again", used=self.used, maxmemory=self.limit)
