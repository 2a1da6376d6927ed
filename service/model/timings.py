"""Reports of how long an operation took, emitted in the context of the operation; none holds a credential."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec


class StoreAnswered(msgspec.Struct, frozen=True, gc=False):
    """One round trip to the store."""

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

    alg: str
    seconds: float


class OthersAnswered(msgspec.Struct, frozen=True):
    """A request to another server, answered or not."""

    purpose: str
    seconds: float


def ignore_timing(_: object) -> None:
    """Ignore an event; the listener where no other is configured."""
