"""Refuses commands at once after Redis has failed to answer, and probes until it answers again."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable
from contextvars import Context
from time import monotonic

import structlog

log = structlog.stdlib.get_logger(__name__)

FIRST_PROBE, LAST_PROBE = 0.05, 0.5
"""Seconds between two probes: at first, and after some that failed; give or take a half."""


class Circuit:
    """Closed while Redis answers; an open one closes with the first answer to a probe, even an error reply."""

    def __init__(self, probe: Callable[[], Awaitable[object]]) -> None:
        self._probe = probe
        self._probing: asyncio.Task[None] | None = None
        self._closed = False
        self.is_open = False

    def open(self, cause: BaseException) -> None:
        """Refuse all commands from now on, until a probe is answered."""
        if self.is_open or self._closed:
            return
        self.is_open = True
        log.warning("redis does not answer", cause=str(cause) or type(cause).__name__)
        # In a context of its own, so that it is not traced as a part of the request that came first.
        self._probing = asyncio.create_task(self._probe_until_answered(), context=Context())

    def close(self) -> None:
        """Stop probing, for good."""
        self._closed = True
        if self._probing is not None:
            self._probing.cancel()

    async def _probe_until_answered(self) -> None:
        began, wait = monotonic(), FIRST_PROBE
        while self.is_open:
            # Spread, so that many replicas do not all probe a Redis that has just come back at once.
            await asyncio.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            wait = min(2 * wait, LAST_PROBE)
            try:
                await self._probe()
            except Exception:  # noqa: BLE001, S112 - whatever it is: nothing else closes the circuit
                continue
            self.is_open = False
        log.warning("redis answers again", seconds=round(monotonic() - began, 1))
