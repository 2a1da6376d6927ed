"""The surroundings of a scenario: the running service, its store, the load, and its fault."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic
from typing import Generic, TypeVar

from tests.chaos.fault import Fault
from tests.chaos.site import Site
from tests.driving.program import Program
from tests.driving.replicas import Fleet

S = TypeVar("S")


@dataclass(frozen=True, kw_only=True)
class Effort:
    """The lengths of the parts of a scenario, in seconds."""

    calm: float
    """Before the fault."""
    hold: float
    """While it lasts, where nothing else says when it ends."""
    outage: float
    """While the store is unavailable; so long that readiness has to tell of it."""
    after: float
    """After the service has recovered."""


FULL = Effort(calm=2, hold=5, outage=5, after=4)
SHORT = Effort(calm=0.5, hold=1.5, outage=2.6, after=0.5)


@dataclass
class Stage(Generic[S]):
    """One scenario's."""

    store: S
    fleet: Fleet
    site: Site
    fault: Fault
    effort: Effort

    async def hold(self) -> None:
        """Let the fault last."""
        await asyncio.sleep(self.effort.hold)

    async def until(self, holds: Callable[[], bool], *, seconds: float, what: str) -> None:
        """Wait for something that has to come, and tell how long it took."""
        began = monotonic()
        while not holds():
            if monotonic() - began > seconds:
                self.fault.broken.append(f"not {what} within {seconds} s")
                return
            await asyncio.sleep(0.05)
        self.fault.notes.append(f"{what} after {monotonic() - began:.1f} s")

    async def bring_back(self, replica: Program) -> None:
        """Start one that has ended, as its supervisor does."""
        await asyncio.to_thread(replica.start)
        await asyncio.to_thread(replica.url)
        await asyncio.to_thread(self.fleet.balancer.wait_until_up, len(self.fleet.replicas))
