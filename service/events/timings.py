"""Answered requests, and the durations of operations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import msgspec

from service.events.event import Event, EventCounter

EmitAtOnce = Callable[[Event | None, tuple[str, str, int], float], None]
"""Emits that a request was answered, by its endpoint, method and status and its seconds, and the event that led to an answer at once."""

FIRST_LOGGED_STATUS = 400
"""Answered requests with this status or a higher one are logged; others at level debug only."""


class Histogram(msgspec.Struct, frozen=True):
    """The Prometheus histogram of an event, which has its duration in `seconds`."""

    name: str
    text: str
    buckets: tuple[float, ...]
    label: str | None = None
    """A member of the event."""


class RequestAnswered(Event, frozen=True, kw_only=True, gc=False):
    """A request was answered; `endpoint` is the route, `other` for an unknown path. Its `logger` is `requests`."""

    webhooks = "never"
    counter = EventCounter("requests", "Requests.", ("endpoint", "method", "status"))
    histogram: ClassVar = Histogram(
        "request_duration_seconds",
        "Time until the answer was ready.",
        (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5),
        "endpoint",
    )
    method: str
    endpoint: str
    """The path of its route, never the path that was sent."""
    status: int
    seconds: float


class StoreAnswered(msgspec.Struct, frozen=True, gc=False):
    """One round trip to the store."""

    histogram: ClassVar = Histogram(
        "store_seconds",
        "Time of a round trip to the store.",
        (1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2),
    )
    commands: Sequence[Sequence[object]]
    """With keys and values, which must not be shown."""
    seconds: float
    trouble: str | None
    """The kind of failure, if there was one."""

    @property
    def operations(self) -> list[str]:
        """The names of the commands, made only when they are needed."""
        return [str(command[0]) for command in self.commands]


class Signed(msgspec.Struct, frozen=True, gc=False):
    """One signature, with the time that it waited for a thread."""

    histogram: ClassVar = Histogram(
        "signing_seconds",
        "Time of a signature, with the wait for a thread.",
        (1e-5, 2.5e-5, 5e-5, 1e-4, 2.5e-4, 5e-4, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1),
        "alg",
    )
    alg: str
    seconds: float


class OthersAnswered(msgspec.Struct, frozen=True):
    """A request to another server, answered or not."""

    histogram: ClassVar = Histogram(
        "outgoing_seconds",
        "Time until another server has answered, or has not.",
        (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
        "purpose",
    )
    purpose: str
    seconds: float


Timing = RequestAnswered | StoreAnswered | Signed | OthersAnswered
EmitTiming = Callable[[Timing], None]
"""Emits a duration at once, in the context of the operation."""


def ignore_timing(_: Timing) -> None:
    """Ignore a duration; the listener where no other is configured."""
