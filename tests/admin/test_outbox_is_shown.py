"""The admin API shows the messages that wait, and those that could not be delivered."""

from __future__ import annotations

import pytest

from service.model.session import LogoutDelivery
from service.store.stores import LOGOUT
from tests.admin.conftest import Admin
from tests.admin.test_clients_and_apis import pages
from tests.driving.service import RunningService


async def queue(service: RunningService, count: int) -> set[str]:
    """Logouts that are due in ten minutes; their ids."""
    stores, ids = service.features.shared.stores, set[str]()
    for at in range(count):
        delivery = LogoutDelivery(client_id=f"client{at}", session_id="s" * 16, subject="818727")
        await stores.kv.write(
            stores.logout_outbox.deliveries.put_new(delivery, LOGOUT, delivery.id, ttl=3600),
            stores.logout_outbox.queue.add(delivery.id, seconds=600),
        )
        ids.add(f"logout.{delivery.id}")
    return ids


async def test_waiting_messages_are_shown_page_by_page(
    admin: Admin, service: RunningService
) -> None:
    ids = await queue(service, 5)
    found = await pages(admin, "/admin/outbox", 2)
    assert {message["id"] for page in found for message in page} == ids
    assert found[0][0]["to"].startswith("client")
    assert found[0][0]["at"].endswith("Z")
    counts = (await admin("GET", "/admin/outbox"))["queues"]
    assert counts["logout"] == {"waiting": 5, "dead": 0}
    assert set(counts) == {"logout", "ciba", "webhooks"}


async def test_no_dead_letter_is_shown_where_there_is_none(
    admin: Admin, service: RunningService
) -> None:
    await queue(service, 1)
    assert (await admin("GET", "/admin/outbox?state=dead"))["items"] == []


@pytest.mark.parametrize("query", ["state=lost", "cursor=AAAA", "cursor=bG9nb3V0Ong", "limit=0"])
async def test_outbox_refuses_another_state_or_cursor(admin: Admin, query: str) -> None:
    assert (await admin("GET", f"/admin/outbox?{query}")).refusal == (400, "invalid_request")
