"""An operator hastens the schedule, and no token is signed with a key that nobody publishes (RFC 7517 §5)."""

from __future__ import annotations

import asyncio

import pytest

from service.keys.schedule import LEAD, CannotChangeKeys, read_record
from tests.keys.conftest import DAY, Fleet


async def test_rotate_announces_a_successor_once(fleet: Fleet) -> None:
    replica = await fleet.started()
    keys = await replica.rotate(at_once=False)
    assert [key.sign_from - fleet.clock() for key in keys] == [0, 14 * DAY]
    fleet.clock.forward(days=1)
    assert await replica.rotate(at_once=False) == keys


@pytest.mark.parametrize(
    "announced", [False, True], ids=["with none announced", "with one announced"]
)
async def test_rotate_now_signs_with_the_next_key_when_all_publish_it(
    fleet: Fleet, announced: bool
) -> None:
    operator, replica = await fleet.started("ES256"), await fleet.started("ES256")
    first = replica.ring.signing_key().kid
    if announced:
        await operator.rotate(at_once=False)
    second = (await operator.rotate(at_once=True))[-1].kid
    fleet.clock.forward(seconds=LEAD - 1)
    await replica.refresh()
    assert (replica.ring.signing_key().kid, replica.ring.find(second) is not None) == (first, True)
    fleet.clock.forward(seconds=1)
    await replica.refresh()
    assert replica.ring.signing_key().kid == second


async def test_rotate_concerns_every_algorithm(fleet: Fleet) -> None:
    replica = await fleet.started("ES256", "EdDSA")
    keys = await replica.rotate(at_once=True)
    assert [key.alg for key in keys] == ["ES256", "EdDSA", "ES256", "EdDSA"]


async def test_a_retired_key_gives_way_to_its_successor(fleet: Fleet) -> None:
    replica = await fleet.started()
    first = replica.ring.signing_key().kid
    await replica.retire(first)
    fleet.clock.forward(seconds=LEAD)
    await replica.refresh()
    assert replica.ring.signing_key().kid != first
    assert replica.ring.find(first) is not None


async def test_an_announced_key_that_is_retired_never_signs(fleet: Fleet) -> None:
    replica = await fleet.started()
    announced = (await replica.rotate(at_once=False))[-1].kid
    await replica.retire(announced)
    fleet.clock.forward(days=90)
    await replica.refresh()
    assert replica.ring.signing_key().kid != announced


async def test_two_operators_make_one_successor(fleet: Fleet) -> None:
    replicas = [await fleet.started() for _ in range(5)]
    await asyncio.gather(*[replica.rotate(at_once=True) for replica in replicas])
    assert len((await read_record(fleet.kv, "ts"))[1]) == 2


async def test_keys_that_do_not_exist_cannot_be_changed(fleet: Fleet) -> None:
    with pytest.raises(CannotChangeKeys, match="no keys yet"):
        await fleet.replica().rotate(at_once=False)
    with pytest.raises(CannotChangeKeys, match="no key has"):
        await (await fleet.started()).retire("unknown")


async def test_a_key_is_retired_once(fleet: Fleet) -> None:
    replica = await fleet.started()
    announced = (await replica.rotate(at_once=False))[-1].kid
    await replica.retire(announced)
    with pytest.raises(CannotChangeKeys, match="retired already"):
        await replica.retire(announced)
