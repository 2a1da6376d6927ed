"""The addresses of the load, and whether it goes on."""

from __future__ import annotations

import asyncio
import random
from dataclasses import dataclass, field

from tests.chaos.answers import Caller
from tests.chaos.ledger import Ledger

PAUSE = 0.03
"""Seconds between two works of one worker, so that the load is mixed and not the heaviest possible."""


@dataclass
class Site:
    """The service as its callers see it, and what they write down."""

    url: str
    """The balancer, and the issuer."""
    replicas: dict[str, str]
    """Their own URLs, by the balancer's names for them."""
    caller: Caller
    ledger: Ledger
    loaded: asyncio.Event = field(default_factory=asyncio.Event)
    """Set while there is load."""

    @property
    def under_load(self) -> bool:
        """Whether a worker goes on."""
        return self.loaded.is_set()

    async def pause(self) -> None:
        """The pause of a worker between two works."""
        await asyncio.sleep(PAUSE * random.uniform(0.5, 1.5))  # noqa: S311 - to spread the load

    def two_replicas(self) -> list[str]:
        """Two different ones, by the balancer's names for them; it takes another where one is unavailable."""
        return random.sample(list(self.replicas), 2)
