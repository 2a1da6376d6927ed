"""A delivery that has just failed is not attempted again before its pause is over (OpenID Connect Back-Channel Logout §2.8)."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from service.model.session import LogoutDelivery
from service.outbox.queue import Outbox
from service.store.stores import LOGOUT, Stores
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-backchannel#2.8")


def outbox_of(replica: RunningService) -> Outbox[LogoutDelivery]:
    """One that no service makes deliveries of."""
    kv = replica.features.shared.kv
    stores = Stores(kv, prefix="another")
    return Outbox(kv=kv, kept=stores.logout_outbox, lease=60)


async def test_a_delivery_that_failed_is_not_taken_by_a_replica_that_found_it_before(
    replicas: list[RunningService],
) -> None:
    one, other = outbox_of(replicas[0]), outbox_of(replicas[-1])
    delivery = LogoutDelivery(client_id="web", session_id="sid", subject="818727")
    await one.kv.write(
        one.kept.deliveries.put_new(delivery, LOGOUT, delivery.id, ttl=60),
        one.kept.queue.add(delivery.id),
    )
    found = [each.id for each in await other.find_due(10)]
    (taken,) = await one.take(found)
    assert await other.take(found) == ()
    await one.retry_later(replace(taken, failures=1))
    assert await other.take(found) == ()
    assert await one.find_due(10) == ()
