"""Operators see page by page what waits in all outboxes."""

from __future__ import annotations

import pytest

from service.events.webhooks import WebhookPostponed
from service.model.session import LogoutDelivery
from service.outbox.looking import Outboxes
from service.outbox.queue import Outbox
from tests.driving.service import RunningService
from tests.webhooks.conftest import emitted, sign_in
from tests.webhooks.receiver import Receiver

LATER = 3600


@pytest.fixture
def logouts(outboxes: Outboxes) -> Outbox[LogoutDelivery]:
    return outboxes.queues["logout"].outbox


async def bury(logouts: Outbox[LogoutDelivery], count: int) -> list[str]:
    """Make dead letters of logout tokens; return their ids, the oldest first."""
    letters = [
        LogoutDelivery(client_id="web", session_id=f"sid{number}", subject="818727", failures=6)
        for number in range(count)
    ]
    for letter in letters:
        await logouts.bury(letter)
    return [f"logout.{letter.id}" for letter in letters]


async def test_pages_lead_through_all_messages_although_some_have_expired(
    outboxes: Outboxes, logouts: Outbox[LogoutDelivery]
) -> None:
    ids = await bury(logouts, 7)
    await logouts.kv.write(logouts.kept.deliveries.drop("logout", ids[1].removeprefix("logout.")))
    seen, cursor = list[str](), None
    for _ in range(9):
        page = await outboxes.read(state="dead", cursor=cursor, limit=3)
        seen += [message.id for message in page.messages]
        cursor = page.cursor
        if cursor is None:
            break
    assert sorted(seen) == sorted({*ids} - {ids[1]})
    assert (await outboxes.counts())["logout"].dead == 7


async def test_a_page_has_messages_of_several_queues(
    service: RunningService,
    outboxes: Outboxes,
    logouts: Outbox[LogoutDelivery],
    receiver: Receiver,
) -> None:
    receiver.status = 500
    delivery = LogoutDelivery(client_id="web", session_id="sid", subject="818727")
    await logouts.kv.write(
        logouts.kept.deliveries.put(delivery, "logout", delivery.id, ttl=LATER),
        logouts.kept.queue.add(delivery.id, seconds=LATER),
    )
    await sign_in(service)
    await emitted(service.events, WebhookPostponed)
    page = await outboxes.read(state="waiting", cursor=None, limit=10)
    assert [(one.queue, one.kind) for one in page.messages] == [
        ("logout", "backchannel_logout"),
        ("webhooks", "session_started"),
    ]
    assert page.cursor is None


@pytest.mark.parametrize(
    "cursor", ["", "logout", "logout:", "logout:-1", "logout:x", "mail:1", "logout:9999999999"]
)
async def test_a_cursor_of_another_list_is_refused(outboxes: Outboxes, cursor: str) -> None:
    with pytest.raises(ValueError, match="cursor"):
        await outboxes.read(state="dead", cursor=cursor, limit=10)


@pytest.mark.parametrize(
    "message_id", ["", "logout", "logout.", "logout.x", "webhooks.a", "mail.a"]
)
async def test_an_unknown_message_is_not_retried(outboxes: Outboxes, message_id: str) -> None:
    assert not await outboxes.retry(message_id)


async def test_the_oldest_dead_letters_are_forgotten(
    outboxes: Outboxes, logouts: Outbox[LogoutDelivery], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.outbox.queue.MAX_DEAD", 3)
    ids = await bury(logouts, 5)
    page = await outboxes.read(state="dead", cursor=None, limit=10)
    assert len(page.messages) == 3
    assert {message.id for message in page.messages} < {*ids}
