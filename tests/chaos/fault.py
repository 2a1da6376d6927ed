"""The faults of a scenario with their times, and the answers that callers may therefore get."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import monotonic

from tests.chaos.answers import Kind
from tests.chaos.ledger import NEVER

LAG = 0.5
"""Seconds around the fault: a replica of the store may be behind its master, and an answer on its way."""
BARELY = 1.0
"""Seconds of an outage that are too few for a promise about readiness."""


@dataclass(kw_only=True)
class Fault:
    """One fault; until it has begun, nothing is excused."""

    honest: frozenset[Kind] = frozenset()
    """The failures that callers may see."""
    spared: frozenset[str] = frozenset()
    """Works that are never unavailable, because the fault leaves them what they need."""
    seen_within: float = 0
    """Seconds after which every replica has to know of an end that was acknowledged."""
    store_is_away: bool = False
    """Whether no command of the store is answered from its beginning to its end."""
    loses: bool = False
    """Whether the store, by its nature, may forget what it acknowledged just before."""
    waits: bool = False
    """Whether it may not where an answer waited for its replicas (`store.wait_for_replicas`): codes, refresh tokens and
    revocations."""
    patience: float = 5
    """Seconds after its end in which all has to be well again."""
    began: float = NEVER
    mended: float = NEVER
    well: float = NEVER
    """When the last failure was over; until then the store may change its mind about who is its master."""
    notes: list[str] = field(default_factory=list)
    """What the scenario saw that the reader of the report wants to know."""
    broken: list[str] = field(default_factory=list)
    """What it did not see although it has to be."""

    @contextmanager
    def lasting(self) -> Iterator[None]:
        """It begins and ends with the block."""
        self.began = monotonic()
        try:
            yield
        finally:
            self.mended = monotonic()

    def strikes(self) -> None:
        """It happens once, and from then on the service mends itself."""
        self.began = self.mended = monotonic()

    @property
    def is_noticed(self) -> bool:
        """Whether every replica has to say for a while that the store is unavailable."""
        return self.store_is_away and self.mended - self.began > BARELY

    def excuses(self, kind: Kind, *, began: float, ended: float) -> bool:
        """Whether a failure of that kind, of a request between these times, is explained."""
        return kind in self.honest and began <= self.mended + self.patience and ended >= self.began

    def is_trouble_of_the_store(self, at: float) -> bool:
        """Whether the store may have been away then, so that replicas kept their events for a while."""
        is_over = min(self.well, self.mended + self.patience) + LAG
        return Kind.UNAVAILABLE in self.honest and self.began - LAG <= at <= is_over

    def forgives(self, at: float, *, waited: bool = False) -> bool:
        """Whether what was acknowledged then may be forgotten."""
        if not self.loses or (waited and self.waits):
            return False
        return self.began - LAG <= at <= min(self.well, self.mended + self.patience) + LAG
