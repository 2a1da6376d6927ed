"""A row of the table: a right request, what is changed in it, and how it is refused then."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pytest

from tests.refusals.world import World

Outcome = tuple[int, str | None]
"""The status, and the OAuth error if there is one."""
Changes = dict[str, dict[str, Any]]
"""What is changed in a request, by the name of the row."""


class Attempt(Protocol):
    """A kind of request that is right unless a row changes it."""

    async def hold(self, world: World) -> Any:
        """Get what the request needs and may use up: a code, a token, a proof."""

    async def send(self, world: World, held: Any, **changes: Any) -> Outcome:
        """Send the request with what is held."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """One refusal."""

    attempt: Attempt
    changes: Mapping[str, Any]
    refusal: Outcome


def refused(
    attempt: Attempt,
    refusal: Outcome,
    changes: Mapping[str, Mapping[str, Any]],
    *marks: pytest.MarkDecorator,
) -> list[Any]:
    """Return the rows of one kind of request that are refused alike, by the names of their changes."""
    kind = str(attempt)
    return [
        pytest.param(
            Row(attempt=attempt, changes=each, refusal=refusal), id=f"{kind}: {name}", marks=marks
        )
        for name, each in changes.items()
    ]


def with_each(parameter: str, values: Mapping[str, Any]) -> Changes:
    """Return changes of one parameter, by the names of its values."""
    return {name: {parameter: value} for name, value in values.items()}
