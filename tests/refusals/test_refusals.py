"""A refused request spends nothing: the store is as before, and what it held is still good (RFC 6749 §5.2)."""

from __future__ import annotations

import pytest

from tests.refusals.row import Row
from tests.refusals.table import TABLE
from tests.refusals.world import World

pytestmark = [pytest.mark.rfc("6749#5.2"), pytest.mark.asyncio(loop_scope="session")]


@pytest.mark.parametrize("row", TABLE)
async def test_a_spoiled_request_is_refused_and_spends_nothing(world: World, row: Row) -> None:
    held = await row.attempt.hold(world)
    before = world.stored()
    assert await row.attempt.send(world, held, **row.changes) == row.refusal
    assert world.stored() == before
    status, error = await row.attempt.send(world, held)
    assert (status < 400, error) == (True, None)
