"""How long something took, told at once and in the context in which it happened; never with a credential inside."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class StoreAnswered(msgspec.Struct, frozen=True):
    """The store was asked, in one round trip."""

    commands: Sequence[Sequence[object]]
    """With keys and values, which nobody is shown."""
    seconds: float
    trouble: str | None
    """What kind of failure came in place of answers."""

    @property
    def operations(self) -> list[str]:
        """The names of the commands; listed only for whoever asks, for every request brings these."""
        return [str(command[0]) for command in self.commands]


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
