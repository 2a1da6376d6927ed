"""Whether asking Redis has any point: after it has failed to answer, nobody waits for it but a probe."""

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
    """Closed while Redis answers; once open, it closes with the first answer to a probe, whatever that says."""

    def __init__(self, probe: Callable[[], Awaitable[object]]) -> None:
        """Take what asks Redis for a sign of life."""
        self._probe = probe
        self._probing: asyncio.Task[None] | None = None
        self._closed = False
        self.open = False

    def opens(self, cause: BaseException) -> None:
        """Let everybody be refused from now on, until a probe is answered."""
        if self.open or self._closed:
            return
        self.open = True
        log.warning("redis does not answer", cause=str(cause) or type(cause).__name__)
        # In a context of its own, so that it is not told of as a part of the request that came first.
        self._probing = asyncio.create_task(self._probe_until_answered(), context=Context())

    def close(self) -> None:
        """Give the probes up, for good."""
        self._closed = True
        if self._probing is not None:
            self._probing.cancel()

    async def _probe_until_answered(self) -> None:
        began, wait = monotonic(), FIRST_PROBE
        while self.open:
            # Spread, so that many replicas do not knock all at once at a Redis that has just come back.
            await asyncio.sleep(wait * random.uniform(0.5, 1.5))  # noqa: S311 - no secret
            wait = min(2 * wait, LAST_PROBE)
            try:
                await self._probe()
            except Exception:  # noqa: BLE001, S112 - whatever it is: nobody else closes the circuit
                continue
            self.open = False
        log.warning("redis answers again", seconds=round(monotonic() - began, 1))
