"""How long something took, told at once and in the context in which it happened; never with a credential inside."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class StoreAnswered(msgspec.Struct, frozen=True):
    """The store was asked, in one round trip."""

    operations: Sequence[object]
    """The names of the commands, without keys and values."""
    seconds: float
    trouble: str | None
    """What kind of failure came in place of answers."""


class Signed(msgspec.Struct, frozen=True):
    """One of the service's keys has signed; with the time that it waited for a thread."""

    alg: str
    seconds: float


class OthersAnswered(msgspec.Struct, frozen=True):
    """Somebody else's server was asked, and has answered or not."""

    purpose: str
    seconds: float


def unheard(_: object) -> None:
    """Where nobody wants to hear of it."""
