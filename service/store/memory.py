"""Is Redis nearly full? Looked at now and then, beside the requests."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Never

import structlog

from service.store.keyvalue import KeyValue

LOOK_EVERY = 30
"""Seconds between two looks."""

NEARLY_FULL = 0.9
"""The share of its `maxmemory` from which on somebody has to act."""

log = structlog.stdlib.get_logger(__name__)


@dataclass(slots=True, kw_only=True)
class StoreMemory:
    """What Redis said at the last look; of a Cluster, the server that is nearest to its limit."""

    kv: KeyValue
    used: int | None = None
    """Bytes; None where Redis does not tell."""
    limit: int = 0
    """Bytes; 0 where there is no limit."""

    @property
    def is_nearly_full(self) -> bool:
        """Whether writes will soon be refused."""
        return self.used is not None and 0 < self.limit * NEARLY_FULL <= self.used

    async def follow(self) -> Never:
        """Look again and again."""
        while True:
            await self.look()
            await asyncio.sleep(LOOK_EVERY)

    async def look(self) -> None:
        """Look once, and log where it has changed."""
        before = self.is_nearly_full
        self.used, self.limit = await self.kv.memory() or (None, 0)
        if self.is_nearly_full and not before:
            log.warning("Redis is nearly full", used=self.used, maxmemory=self.limit)
        elif before and not self.is_nearly_full:
            log.info("Redis has room again", used=self.used, maxmemory=self.limit)
