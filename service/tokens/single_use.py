"""The single use of a code or refresh token, in the atomic step that makes the new tokens active."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import msgspec

from service.model.authorization import Spent
from service.model.handle import Handle
from service.protocol.errors import OAuthError
from service.store.records import Records, was_won
from service.store.verbs import Command

T = TypeVar("T")


class SingleUse(msgspec.Struct, frozen=True):
    swap: Command
    was_won: Callable[[bytes | None], bool]
    """Return whether the answer to the swap means that this request was the first."""
    report_replay: Callable[[], OAuthError]
    """Emit the event of a replay, and return the refusal."""


def use_once(
    records: Records[T | Spent],
    handle: Handle,
    marker: Spent,
    *,
    ttl: int,
    report_replay: Callable[[], OAuthError],
    is_repeatable: bool = False,
) -> SingleUse:
    """Put the marker in the place of the record; with `is_repeatable` every request wins that finds either."""

    def is_won(before: bytes | None) -> bool:
        is_repeat = is_repeatable and before is not None
        return is_repeat or was_won(before, attempt=marker.attempt)

    swap = records.swap(marker, handle.selector, handle.digest, ttl=ttl)
    return SingleUse(swap, is_won, report_replay)
