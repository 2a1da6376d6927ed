"""Replicas, commands and a stopping process: every event is sent once if nothing fails, and in order for each user."""

from __future__ import annotations

import time
from typing import Any

import pytest

from service.events.users import LoggedOut
from service.outbox.looking import Outboxes
from tests.cli.conftest import Command
from tests.cli.conftest import command as command  # noqa: PLC0414 - a fixture
from tests.conftest import Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.rounds import NextRounds
from tests.driving.service import RunningService, claims_in
from tests.races.conftest import replicas as replicas  # noqa: PLC0414 - a fixture
from tests.webhooks.conftest import sign_in
from tests.webhooks.receiver import NEXT_SECRET, SECRET, Receiver, receiving


async def test_replicas_send_each_event_once_and_those_of_a_user_in_order(
    next_rounds: NextRounds, replicas: list[RunningService], receiver: Receiver
) -> None:
    for number in range(6):
        replica = replicas[number % len(replicas)]
        browser = Browser(replica.issuer)
        app = ClientApp(replica, browser)
        hint = str((await app.tokens())["id_token"])
        await app.browser.get("/connect/endsession", params={"id_token_hint": hint})
        await browser.close()
    events = await receiver.events(18)
    await next_rounds()
    assert len(receiver.received) == 18
    assert [event["type"] for event in events] == [
        "session_started",
        "session_ended",
        "logged_out",
    ] * 6


async def test_a_command_of_an_operator_is_announced(
    command: Command, app: ClientApp, receiver: Receiver
) -> None:
    sid = claims_in((await app.tokens())["id_token"])["sid"]
    assert (await command("sessions", "end", "--session", sid)).exit_code == 0
    _, ended = await receiver.events(2)
    assert (ended["type"], ended["data"]["session_id"]) == ("session_ended", sid)


async def test_a_webhook_that_hangs_does_not_delay_another(
    start: Start, config: dict[str, Any], receiver: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("service.outbox.delivering.AT_ONCE", 4)
    receiver.answering.clear()
    async with receiving() as other:
        entry = {"url": other.url, "secrets": [NEXT_SECRET], "kinds": ["login_succeeded"]}
        config["events"]["webhooks"].append(entry)
        service = await start(config)
        began = time.monotonic()
        for username in ("alice", "bob", "alice"):
            await sign_in(service, username)
        await other.events(3)
        assert time.monotonic() - began < 15


async def test_a_process_that_ends_queues_its_last_events(
    service: RunningService, receiver: Receiver, outboxes: Outboxes
) -> None:
    receiver.answering.clear()
    queue = service.features.shared.event_queue
    assert queue is not None
    service.features.shared.emit(LoggedOut(subject="818727", session_id="sid"))
    await queue.close()
    assert (await outboxes.counts())["webhooks"].waiting == 1


@pytest.fixture
def webhook(receiver: Receiver) -> dict[str, Any]:
    return {"url": receiver.url, "secrets": [SECRET], "kinds": ["session_*", "logged_out"]}
