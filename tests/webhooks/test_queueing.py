"""Events are queued before the answer, with their change where it is certain, and the queue is bounded."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from service.events.webhooks import WebhookDelivered, WebhookPostponed, WebhookRefused
from service.model.request_context import current_request
from service.model.webhook import WebhookDelivery
from service.outbox.looking import Outboxes
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.lanes import LANE_ADD
from service.store.stores import EVENT_LIFETIME, WEBHOOKS
from service.webhooks import queueing
from service.webhooks.queueing import EventQueue
from tests.conftest import Clock, Start
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.webhooks.conftest import emitted, nothing_waits, sign_in
from tests.webhooks.receiver import SECRET, Receiver


@pytest.fixture
def webhook(receiver: Receiver) -> dict[str, Any]:
    kinds = ["session_*", "logged_out", "refresh_token_reused", "token_revoked"]
    return {"url": receiver.url, "secrets": [SECRET], "kinds": kinds}


async def test_answer_comes_after_its_events_are_in_the_store(
    app: ClientApp, receiver: Receiver, outboxes: Outboxes
) -> None:
    receiver.answering.clear()
    await app.login()
    assert (await outboxes.counts())["webhooks"].waiting == 1


@pytest.fixture
def killed_after_its_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    """The process is gone after each change: what it emits after that reaches nobody."""
    monkeypatch.setattr(EventQueue, "note", lambda *_: None)


@pytest.mark.usefixtures("killed_after_its_writes")
async def test_an_ended_session_is_announced_although_the_process_was_killed_after_the_change(
    app: ClientApp, receiver: Receiver
) -> None:
    tokens = await app.tokens()
    await app.browser.get("/connect/endsession", params={"id_token_hint": tokens["id_token"]})
    assert [event["type"] for event in await receiver.events()] == ["session_ended"]


@pytest.mark.usefixtures("killed_after_its_writes")
async def test_a_reused_refresh_token_is_announced_although_the_process_was_killed_after_the_change(
    app: ClientApp, receiver: Receiver
) -> None:
    tokens = await app.tokens(scope="openid offline_access")
    await app.refresh(tokens["refresh_token"])
    await app.refresh(tokens["refresh_token"])
    assert [event["type"] for event in await receiver.events()] == ["refresh_token_reused"]


async def test_an_event_that_was_written_with_its_change_is_queued_once(
    app: ClientApp, receiver: Receiver, outboxes: Outboxes
) -> None:
    tokens = await app.tokens()
    await app.browser.get("/connect/endsession", params={"id_token_hint": tokens["id_token"]})
    await receiver.events(3)
    await nothing_waits(outboxes)
    kinds = [event["type"] for event in await receiver.events()]
    assert kinds == ["session_started", "session_ended", "logged_out"]


async def test_an_event_that_was_not_taken_with_its_change_is_sent_when_the_store_takes_it(
    app: ClientApp, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A full Redis executes the change alone; so does a Cluster in which the server of the events has failed."""
    tokens = await app.tokens()
    ask, failures = KeyValue._ask, [True]  # noqa: SLF001

    async def lose_events(self: KeyValue, channel: Any, commands: Any, *more: Any) -> Any:
        others = [one for one in commands if one[:2] != ("EVAL", LANE_ADD)]
        if len(others) in {0, len(commands)} or not failures:
            return await ask(self, channel, commands, *more)
        failures.clear()
        await ask(self, channel, others, *more)
        raise StoreUnavailable("the store cannot be reached")

    await receiver.events(1)
    monkeypatch.setattr(KeyValue, "_ask", lose_events)
    hint = {"id_token_hint": tokens["id_token"]}
    assert (await app.browser.get("/connect/endsession", params=hint)).status == 503
    assert not await app.service.is_active(tokens["access_token"])
    assert [event["type"] for event in await receiver.events(2)][1:] == ["session_ended"]


async def test_a_token_request_takes_no_round_trip_for_events_of_other_kinds(
    start: Start, config: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    taken = []
    wanted: tuple[dict[str, Any], ...] = (config["events"], {})
    for events in wanted:
        service = await start(config | {"events": events})
        asked = count_round_trips(service, monkeypatch)
        answer = await service.token("machine", grant_type="client_credentials", scope="api1")
        assert answer.status == 200
        taken.append(len(asked))
    assert taken[0] == taken[1]


def count_round_trips(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Note each round trip of requests to the store; others have no context of a request."""
    asked: list[Any] = []
    ask = KeyValue._ask  # noqa: SLF001

    async def note(self: KeyValue, *arguments: Any) -> Any:
        if current_request.get() is not None and self is service.features.shared.kv:
            asked.append(arguments)
        return await ask(self, *arguments)

    monkeypatch.setattr(KeyValue, "_ask", note)
    return asked


class TestFull:
    @pytest.fixture(autouse=True)
    def _two(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("service.store.stores.WEBHOOK_LIMIT", 2)

    async def test_the_newest_event_is_refused_and_counted(
        self, service: RunningService, receiver: Receiver, outboxes: Outboxes
    ) -> None:
        receiver.answering.clear()
        for username in ("alice", "bob", "alice"):
            await sign_in(service, username)
        refused = [event for event in service.events if isinstance(event, WebhookRefused)]
        host = receiver.origin.removeprefix("http://")
        assert refused == [WebhookRefused(webhook=host, kind="session_started", reason="full")]
        assert (await outboxes.counts())["webhooks"].waiting == 2
        line = f'token_service_webhooks_refused_total{{reason="full",webhook="{host}"}} 1.0'
        assert line in (await service.get("/metrics")).body.decode()
        receiver.answering.set()
        await nothing_waits(outboxes)
        await sign_in(service)
        await receiver.events(3)


class TestFullOfBytes:
    @pytest.fixture(autouse=True)
    def _little(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Room for two events of a session that begins, which have some 350 bytes."""
        monkeypatch.setattr("service.store.stores.WEBHOOK_BYTES", 900)

    async def test_the_newest_event_is_refused_until_there_is_room_again(
        self, service: RunningService, receiver: Receiver, outboxes: Outboxes
    ) -> None:
        receiver.answering.clear()
        for username in ("alice", "bob", "alice"):
            await sign_in(service, username)
        refused = [event for event in service.events if isinstance(event, WebhookRefused)]
        assert [event.reason for event in refused] == ["full"]
        assert (await outboxes.counts())["webhooks"].waiting == 2
        receiver.answering.set()
        await nothing_waits(outboxes)
        for username in ("alice", "bob"):
            await sign_in(service, username)
        await receiver.events(4)
        assert [event for event in service.events if isinstance(event, WebhookRefused)] == refused

    async def test_bytes_are_counted_as_long_as_their_event_waits(
        self, service: RunningService, receiver: Receiver, outboxes: Outboxes
    ) -> None:
        kv, queue = service.features.shared.kv, service.features.shared.stores.webhook_outbox.queue
        receiver.answering.clear()
        await sign_in(service)
        (waiting,) = (await outboxes.read(state="waiting", cursor=None, limit=1)).messages
        member = waiting.id.removeprefix("webhooks.")
        *_, counter = queue._keys(member)  # noqa: SLF001
        assert await kv.write(("GET", counter)) == [member.split(".")[2].encode()]
        receiver.answering.set()
        await nothing_waits(outboxes)
        assert await kv.write(("GET", counter)) == [b"0"]
        (event,) = receiver.received
        assert int(member.split(".")[2]) == len(event.body)

    async def test_bytes_of_expired_events_count_no_longer(
        self, service: RunningService, receiver: Receiver, clock: Clock
    ) -> None:
        stores = service.features.shared.stores
        delivery = WebhookDelivery(id="w.l.800.msg_a", kind="k", host="h", created_at=0, event="")
        other = replace(delivery, id="w.m.800.msg_b")

        async def append(one: WebhookDelivery) -> int:
            put = stores.webhook_outbox.deliveries.put(one, WEBHOOKS, one.id, ttl=EVENT_LIFETIME)
            (queued,) = await stores.kv.write(stores.webhook_outbox.queue.append(one.id, put))
            return int(queued)

        assert await append(delivery) == 1
        assert await append(other) == 0
        clock.forward(seconds=EVENT_LIFETIME - 100)
        small = replace(delivery, id="w.n.50.msg_c")
        assert await append(small) == 1  # the keys of the webhook are kept
        clock.forward(seconds=200)
        assert await append(other) == 1
        assert await append(replace(delivery, id="w.l.51.msg_d")) == 0


class TestWhileTheStoreIsAway:
    async def test_events_are_kept_and_queued_when_it_is_back(
        self, service: RunningService, receiver: Receiver, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        append, is_away = EventQueue._append, [True]  # noqa: SLF001

        def fail(self: EventQueue, delivery: Any) -> Any:
            if is_away:
                raise StoreUnavailable("the store cannot be reached")
            return append(self, delivery)

        monkeypatch.setattr(EventQueue, "_append", fail)
        await sign_in(service)
        await asyncio.sleep(0.2)
        assert receiver.received == []
        is_away.clear()
        assert (await receiver.events())[0]["type"] == "session_started"

    @pytest.mark.parametrize(("limit", "value"), [("MAX_PENDING", 1), ("MAX_PENDING_BYTES", 600)])
    async def test_a_process_keeps_so_many_and_refuses_the_newest(
        self, service: RunningService, monkeypatch: pytest.MonkeyPatch, limit: str, value: int
    ) -> None:
        def fail(*_: Any) -> Any:
            raise StoreUnavailable("the store cannot be reached")

        monkeypatch.setattr(EventQueue, "_append", fail)
        monkeypatch.setattr(queueing, limit, value)
        await sign_in(service)
        await sign_in(service, "bob")
        refused = await emitted(service.events, WebhookRefused)
        assert refused.reason == "store_unavailable"


class TestInsideTheNetwork:
    async def test_a_name_that_leads_inside_gets_no_request(
        self, start: Start, config: dict[str, Any], receiver: Receiver
    ) -> None:
        config["outgoing"] = {}
        port = receiver.origin.rpartition(":")[2]
        config["events"]["webhooks"][0]["url"] = f"https://127.0.0.1.nip.example:{port}/"
        service = await start(config)
        await sign_in(service)
        postponed = await emitted(service.events, WebhookPostponed)
        assert postponed.cause.startswith("no answer")
        assert receiver.received == []


async def test_no_secret_and_no_path_of_a_webhook_is_logged(
    service: RunningService, receiver: Receiver, capfd: pytest.CaptureFixture[str]
) -> None:
    receiver.answers = [500]
    await sign_in(service)
    await emitted(service.events, WebhookPostponed)
    metrics = (await service.get("/metrics")).body.decode()
    shown = f"{service.events} {capfd.readouterr()} {metrics}"
    assert "webhook_postponed" in shown
    assert "webhooks_postponed_total" in metrics
    assert "very-secret-path" not in shown
    assert SECRET not in shown
    assert SECRET.removeprefix("whsec_") not in shown


async def test_delivered_events_are_counted_by_host(
    service: RunningService, receiver: Receiver
) -> None:
    await sign_in(service)
    await emitted(service.events, WebhookDelivered)
    host = receiver.origin.removeprefix("http://")
    metrics = (await service.get("/metrics")).body.decode()
    assert f'token_service_webhooks_delivered_total{{webhook="{host}"}} 1.0' in metrics
