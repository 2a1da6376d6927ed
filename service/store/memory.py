"""Watches how full Redis is and whether it evicts keys, in the background."""

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
    evicting_policy: str | None = None
    """The maxmemory-policy by which tokens may go that have not expired; None if there is none, or Redis does not tell."""

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
        memory = await self.kv.read_memory()
        self.used, self.limit = (memory.used, memory.limit) if memory else (None, 0)
        if self.is_nearly_full and not before:
            log.warning("Redis is nearly full", used=self.used, maxmemory=self.limit)
        elif before and not self.is_nearly_full:
            log.info("Redis has room again", used=self.used, maxmemory=self.limit)
        if memory is not None and memory.evicting_policy != self.evicting_policy:
            self.evicting_policy = memory.evicting_policy
            self._log_policy()

    def _log_policy(self) -> None:
        if self.evicting_policy is None:
            log.info("Redis evicts nothing any more")
            return
        log.warning(
            "Redis may evict what is not expired, and with it tokens and signing keys; "
            "set its maxmemory-policy to noeviction",
            maxmemory_policy=self.evicting_policy,
        )
