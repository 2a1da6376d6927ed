"""A webhook that is slow, down, gone, redirects or answers without end delays its events, which arrive at least once and in order."""

from __future__ import annotations

import asyncio
import time
from email.utils import formatdate
from typing import Any

import pytest

from service.events.webhooks import (
    WebhookDelivered,
    WebhookFailed,
    WebhookGone,
    WebhookPostponed,
)
from service.outbox.looking import Outboxes, State
from service.wiring.outboxes import open_outboxes
from tests.conftest import Clock, Start
from tests.driving.rounds import NextRounds
from tests.driving.service import RunningService
from tests.webhooks.conftest import emitted, nothing_waits, sign_in
from tests.webhooks.receiver import SECRET, Receiver, receiving


@pytest.mark.parametrize("status", [301, 307, 400, 404, 429, 500, 503])
async def test_an_event_that_was_not_accepted_comes_again_with_the_same_id(
    service: RunningService, receiver: Receiver, outboxes: Outboxes, clock: Clock, status: int
) -> None:
    receiver.answers = [status]
    await sign_in(service)
    postponed = await emitted(service.events, WebhookPostponed)
    assert (postponed.cause, postponed.attempts) == (f"status {status}", 1)
    clock.forward(seconds=8)
    await receiver.events(2)
    first, second = receiver.received
    assert (first.id, first.body) == (second.id, second.body)
    assert first.headers["webhook-timestamp"] < second.headers["webhook-timestamp"]
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    await nothing_waits(outboxes)
    assert {one.path for one in receiver.received} == {"/hooks/very-secret-path"}


async def test_events_of_an_hour_without_the_receiver_arrive_in_order(
    service: RunningService, receiver: Receiver, outboxes: Outboxes, clock: Clock
) -> None:
    receiver.status = 503
    for _ in range(3):
        await sign_in(service)
    await receiver.events()
    for _ in range(12):
        clock.forward(minutes=5)
        await asyncio.sleep(0.3)
    tried = len(receiver.received)
    assert len({one.id for one in receiver.received}) == 1  # the first one holds up the others
    receiver.status = 204
    clock.forward(hours=1)
    await nothing_waits(outboxes)
    came = receiver.received[tried:]
    assert [one.event["time"] for one in came] == sorted({one.event["time"] for one in came})
    assert len(came) == 3


async def test_a_receiver_in_trouble_with_one_subject_gets_the_events_of_others(
    service: RunningService, receiver: Receiver
) -> None:
    receiver.answers = [500]
    await sign_in(service)
    await emitted(service.events, WebhookPostponed)
    await sign_in(service, "bob")
    _, event = await receiver.events(2)
    assert event["subject"] != "818727"


async def test_an_event_becomes_a_dead_letter_after_a_day_and_lets_the_next_one_pass(
    service: RunningService, receiver: Receiver, outboxes: Outboxes, clock: Clock
) -> None:
    receiver.status = 500
    await sign_in(service)
    await receiver.events()
    clock.forward(hours=23)
    await sign_in(service)
    await receiver.events(2)
    receiver.answers = [500]
    receiver.status = 204
    clock.forward(hours=2)
    failed = await emitted(service.events, WebhookFailed)
    assert failed.cause == "status 500"
    await nothing_waits(outboxes)
    assert receiver.received[-1].event["id"] != failed.event_id
    page = await outboxes.read(state="dead", cursor=None, limit=10)
    (letter,) = page.messages
    assert (letter.kind, letter.subject, letter.cause) == (
        "session_started",
        "818727",
        "status 500",
    )
    assert letter.to == receiver.origin.removeprefix("http://")


async def test_a_dead_letter_is_delivered_when_its_operator_tries_again(
    service: RunningService, receiver: Receiver, outboxes: Outboxes, clock: Clock
) -> None:
    receiver.status = 500
    await sign_in(service)
    await receiver.events()
    clock.forward(days=2)
    failed = await emitted(service.events, WebhookFailed)
    receiver.status = 204
    (letter,) = (await outboxes.read(state="dead", cursor=None, limit=10)).messages
    assert await outboxes.retry(letter.id)
    delivered = await emitted(service.events, WebhookDelivered)
    assert delivered.event_id == failed.event_id
    assert (await outboxes.read(state="dead", cursor=None, limit=10)).messages == ()
    assert not await outboxes.retry(letter.id)


async def test_a_waiting_event_is_tried_at_once_when_its_operator_wants_it(
    service: RunningService, receiver: Receiver, outboxes: Outboxes
) -> None:
    receiver.answers = [500]
    await sign_in(service)
    await emitted(service.events, WebhookPostponed)
    (waiting,) = (await outboxes.read(state="waiting", cursor=None, limit=10)).messages
    assert (waiting.failures, waiting.cause) == (1, "status 500")
    assert await outboxes.retry(waiting.id)
    await receiver.events(2)
    await nothing_waits(outboxes)


@pytest.mark.parametrize("days", [0, 2], ids=["waiting", "dead"])
async def test_an_operators_retry_does_not_wait_until_the_rest_is_over(
    service: RunningService, receiver: Receiver, outboxes: Outboxes, clock: Clock, days: int
) -> None:
    if days:
        await _let_die(service, receiver, clock)
    receiver.answers = [*receiver.answers, 410]
    await sign_in(service, "bob")
    await emitted(service.events, WebhookGone)
    tried = len(receiver.received)
    state: State = "dead" if days else "waiting"
    (letter,) = (await outboxes.read(state=state, cursor=None, limit=10)).messages
    assert await outboxes.retry(letter.id)
    delivered = await emitted(service.events, WebhookDelivered)
    assert letter.id.endswith(delivered.event_id)
    assert len(receiver.received) == tried + 1


async def _let_die(service: RunningService, receiver: Receiver, clock: Clock) -> None:
    """Let alice's event become a dead letter."""
    receiver.answers = [500, 500]
    await sign_in(service)
    await receiver.events()
    clock.forward(days=2)
    await emitted(service.events, WebhookFailed)


async def test_an_event_that_was_never_sent_is_tried_in_a_rest_when_its_operator_wants_it(
    service: RunningService, receiver: Receiver, outboxes: Outboxes
) -> None:
    receiver.answers = [410, 410]
    await sign_in(service)
    await emitted(service.events, WebhookGone)
    await sign_in(service, "bob")
    page = await outboxes.read(state="waiting", cursor=None, limit=10)
    (letter,) = (one for one in page.messages if one.subject != "818727")
    assert await outboxes.retry(letter.id)
    _, event = await receiver.events(2)
    assert event["subject"] == letter.subject
    assert await outboxes.retry(letter.id)
    await emitted(service.events, WebhookDelivered)


async def test_a_receiver_that_answers_410_gets_one_request_an_hour(
    next_rounds: NextRounds,
    service: RunningService,
    receiver: Receiver,
    outboxes: Outboxes,
    clock: Clock,
) -> None:
    receiver.answers = [410]
    await sign_in(service)
    await emitted(service.events, WebhookGone)
    await sign_in(service, "bob")
    clock.forward(minutes=50)
    await next_rounds()
    assert len(receiver.received) == 1
    clock.forward(minutes=15)
    await nothing_waits(outboxes)
    assert len(receiver.received) == 3


async def test_an_answer_without_end_is_not_read(
    service: RunningService, receiver: Receiver, outboxes: Outboxes
) -> None:
    receiver.gigabytes = True
    await sign_in(service)
    await nothing_waits(outboxes)
    assert len(receiver.received) == 1


async def test_a_receiver_that_hangs_delays_no_request(
    start: Start, config: dict[str, Any], receiver: Receiver
) -> None:
    config["outgoing"]["timeout"] = "1s"
    service = await start(config)
    receiver.answering.clear()
    async with asyncio.timeout(60):
        for _ in range(3):
            await sign_in(service)
    postponed = await emitted(service.events, WebhookPostponed)
    assert postponed.cause == "no answer in time"


class TestReplaced:
    async def test_waiting_events_go_to_the_url_that_replaces_theirs(
        self, start: Start, config: dict[str, Any], receiver: Receiver, clock: Clock
    ) -> None:
        config["store"] = {"url": "memory://"}
        async with receiving() as successor:
            receiver.status = 500
            before = await start(config)
            await sign_in(before)
            await emitted(before.events, WebhookPostponed)
            entry = {"url": successor.url, "secrets": [SECRET], "kinds": ["session_*"]}
            store = before.features.shared.stores
            delivery = await first_waiting(before)
            config["events"]["webhooks"] = [entry | {"replaces": [receiver.url]}]
            after = await start(config)
            await append(after, delivery)
            assert store is not after.features.shared.stores
            clock.forward(seconds=10)
            (event,) = await successor.events()
            assert event["type"] == "session_started"

    async def test_events_of_a_url_that_is_gone_become_dead_letters(
        self, start: Start, config: dict[str, Any], receiver: Receiver, clock: Clock
    ) -> None:
        config["store"] = {"url": "memory://"}
        async with receiving() as successor:
            receiver.status = 500
            before = await start(config)
            await sign_in(before)
            await emitted(before.events, WebhookPostponed)
            delivery = await first_waiting(before)
            config["events"]["webhooks"][0]["url"] = successor.url
            after = await start(config)
            await append(after, delivery)
            for _ in range(60):
                clock.forward(hours=1)
                await asyncio.sleep(0.05)
            failed = await emitted(after.events, WebhookFailed)
            assert failed.cause == "no webhook of the configuration has its URL"
            assert successor.received == []


async def first_waiting(service: RunningService) -> Any:
    """Return the event that waits there."""
    queue = open_outboxes(service.features.shared).queues["webhooks"].outbox
    ((delivery, _),) = await queue.look(dead=False, start=0, count=1)
    return delivery


async def append(service: RunningService, delivery: Any) -> None:
    """Let an event wait there, as it does in a store that both share."""
    stores = service.features.shared.stores
    put = stores.webhook_outbox.deliveries.put(delivery, "webhooks", delivery.id, ttl=600_000)
    await stores.kv.write(stores.webhook_outbox.queue.append(delivery.id, put))


class TestRetryAfter:
    """429 and 503 say when the webhook may be asked again (RFC 6585 §4, RFC 9110 §10.2.3)."""

    @staticmethod
    async def refuse(service: RunningService, receiver: Receiver, status: int, value: str) -> None:
        receiver.answers, receiver.retry_after = [status], value
        await sign_in(service)
        await emitted(service.events, WebhookPostponed)

    @pytest.mark.parametrize("status", [429, 503])
    @pytest.mark.parametrize("form", ["seconds", "date"])
    async def test_a_webhook_rests_as_long_as_it_asks_for_with_all_its_subjects(
        self,
        next_rounds: NextRounds,
        service: RunningService,
        receiver: Receiver,
        *,
        clock: Clock,
        status: int,
        form: str,
    ) -> None:
        until = formatdate(time.time() + 600, usegmt=True)
        await self.refuse(service, receiver, status, "600" if form == "seconds" else until)
        await sign_in(service, "bob")
        clock.forward(seconds=500)
        await next_rounds()
        assert len(receiver.received) == 1
        clock.forward(seconds=150)
        await receiver.events(3)

    @pytest.mark.parametrize(
        "value",
        ["86400", "9" * 50, "Fri, 31 Dec 9999 23:59:59 GMT"],
        ids=["a day", "for ever", "a date far away"],
    )
    async def test_no_webhook_rests_for_more_than_an_hour(
        self,
        next_rounds: NextRounds,
        service: RunningService,
        receiver: Receiver,
        *,
        clock: Clock,
        value: str,
    ) -> None:
        await self.refuse(service, receiver, 429, value)
        clock.forward(seconds=3500)
        await next_rounds()
        assert len(receiver.received) == 1
        clock.forward(seconds=200)
        await receiver.events(2)

    @pytest.mark.parametrize(
        ("status", "value"),
        [
            *[(503, value) for value in ("0", "-5", "soon", "1.5", "٣", "9" * 5000, "", "x, 99 y")],
            (503, "Sun, 06 Nov 1994 08:49:37 GMT"),
            (503, "Mon, 99 Foo 9999999999 99:99:99 GMT"),
            *[(status, "600") for status in (301, 400, 500, 502)],
        ],
    )
    async def test_other_answers_are_repeated_after_the_usual_pause(
        self, service: RunningService, receiver: Receiver, clock: Clock, status: int, value: str
    ) -> None:
        await self.refuse(service, receiver, status, value)
        clock.forward(seconds=8)
        await receiver.events(2)
