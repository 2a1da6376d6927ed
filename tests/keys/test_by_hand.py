"""An operator hastens the schedule, and no token is signed with a key that nobody publishes (RFC 7517 §5)."""

from __future__ import annotations

import asyncio

import pytest

from service.keys.manual_rotation import CannotChangeKeys, ManualRotation
from service.keys.schedule import LEAD
from tests.keys.conftest import DAY, Fleet


async def test_rotate_announces_a_successor_once(fleet: Fleet) -> None:
    replica = await fleet.started()
    keys = await ManualRotation(replica).announce_next()
    assert [key.sign_from - fleet.clock() for key in keys] == [0, 14 * DAY]
    fleet.clock.forward(days=1)
    assert await ManualRotation(replica).announce_next() == keys


@pytest.mark.parametrize(
    "announced", [False, True], ids=["with none announced", "with one announced"]
)
async def test_rotate_now_signs_with_the_next_key_when_all_publish_it(
    fleet: Fleet, announced: bool
) -> None:
    operator, replica = await fleet.started("ES256"), await fleet.started("ES256")
    first = replica.ring.signing_key().kid
    if announced:
        await ManualRotation(operator).announce_next()
    second = (await ManualRotation(operator).sign_with_next())[-1].kid
    fleet.clock.forward(seconds=LEAD - 1)
    await replica.refresh()
    assert (replica.ring.signing_key().kid, replica.ring.find(second) is not None) == (first, True)
    fleet.clock.forward(seconds=1)
    await replica.refresh()
    assert replica.ring.signing_key().kid == second


async def test_rotate_concerns_every_algorithm(fleet: Fleet) -> None:
    replica = await fleet.started("ES256", "EdDSA")
    keys = await ManualRotation(replica).sign_with_next()
    assert [key.alg for key in keys] == ["ES256", "EdDSA", "ES256", "EdDSA"]


async def test_a_retired_key_gives_way_to_its_successor(fleet: Fleet) -> None:
    replica = await fleet.started()
    first = replica.ring.signing_key().kid
    await ManualRotation(replica).retire(first)
    fleet.clock.forward(seconds=LEAD)
    await replica.refresh()
    assert replica.ring.signing_key().kid != first
    assert replica.ring.find(first) is not None


async def test_an_announced_key_that_is_retired_never_signs(fleet: Fleet) -> None:
    replica = await fleet.started()
    announced = (await ManualRotation(replica).announce_next())[-1].kid
    await ManualRotation(replica).retire(announced)
    fleet.clock.forward(days=90)
    await replica.refresh()
    assert replica.ring.signing_key().kid != announced


async def test_two_operators_make_one_successor(fleet: Fleet) -> None:
    replicas = [await fleet.started() for _ in range(5)]
    await asyncio.gather(*[ManualRotation(replica).sign_with_next() for replica in replicas])
    assert len((await replicas[0].read())[1]) == 2


async def test_keys_that_do_not_exist_cannot_be_changed(fleet: Fleet) -> None:
    with pytest.raises(CannotChangeKeys, match="no keys yet"):
        await ManualRotation(fleet.replica()).announce_next()
    with pytest.raises(CannotChangeKeys, match="no key has"):
        await ManualRotation(await fleet.started()).retire("unknown")


async def test_a_key_is_retired_once(fleet: Fleet) -> None:
    replica = await fleet.started()
    announced = (await ManualRotation(replica).announce_next())[-1].kid
    await ManualRotation(replica).retire(announced)
    with pytest.raises(CannotChangeKeys, match="retired already"):
        await ManualRotation(replica).retire(announced)
