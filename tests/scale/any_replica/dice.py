"""Chooses a replica for each single request. A seeded chance decides, and never for the same one twice in a row."""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from aiohttp import ClientSession, TraceConfig, TraceRequestEndParams, TraceRequestStartParams

from tests.driving.haproxy import CHOSEN, SERVED


@dataclass
class Dice:
    """Names a replica in each request, and notes which ones have answered."""

    seed: int
    replicas: tuple[str, ...] = ("r1", "r2", "r3")
    served: list[str] = field(default_factory=list)
    _last: str = ""

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)  # noqa: S311 - no secret, and to be repeated

    def __call__(self) -> str:
        """The next replica."""
        others = [each for each in self.replicas if each != self._last]
        self._last = self._random.choice(others)
        return self._last

    @property
    def session(self) -> dict[str, Any]:
        """Make a client session of aiohttp choose a replica before every request."""
        tracing = TraceConfig()
        tracing.on_request_start.append(self._throw)
        tracing.on_request_end.append(self._note)
        return {"trace_configs": [tracing]}

    async def _throw(
        self, _session: ClientSession, _context: SimpleNamespace, sent: TraceRequestStartParams
    ) -> None:
        sent.headers[CHOSEN] = self()

    async def _note(
        self, _session: ClientSession, _context: SimpleNamespace, got: TraceRequestEndParams
    ) -> None:
        served = got.response.headers[SERVED]
        assert served == got.headers[CHOSEN], "another replica than the dice's: was one away?"
        self.served.append(served)
