"""A service with a webhook, and a receiver at its URL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from service.outbox.looking import Outboxes
from service.wiring.outboxes import open_outboxes
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.rounds import next_rounds as next_rounds  # noqa: PLC0414 - a fixture
from tests.driving.rounds import outboxes_are_read_often as outboxes_are_read_often  # noqa: PLC0414 - a fixture
from tests.driving.service import RunningService
from tests.webhooks.receiver import SECRET, Receiver, receiving


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as receiver:
        yield receiver


@pytest.fixture
def webhook(receiver: Receiver) -> dict[str, Any]:
    """The entry of the receiver; a module gives it others by a fixture of the same name."""
    return {"url": receiver.url, "secrets": [SECRET], "kinds": ["session_*", "logged_out"]}


@pytest.fixture
def config(config: dict[str, Any], webhook: dict[str, Any]) -> dict[str, Any]:
    """On a machine with other work, an answer may take seconds, and a repetition would be right."""
    config["events"] = {"webhooks": [webhook]}
    config["outgoing"] = {"allowed_networks": ["127.0.0.0/8"], "timeout": "20s"}
    return config


@pytest.fixture
def outboxes(service: RunningService) -> Outboxes:
    """The outboxes as an operator sees them."""
    return open_outboxes(service.features.shared)


async def nothing_waits(outboxes: Outboxes) -> None:
    """Until no event waits."""
    for _ in range(3000):
        if (await outboxes.counts())["webhooks"].waiting == 0:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("an event waits")


async def emitted(events: list[object], kind: type[Any]) -> Any:
    """Return the first event of a kind, as soon as there is one."""
    for _ in range(3000):
        for event in events:
            if isinstance(event, kind):
                return event
        await asyncio.sleep(0.02)
    raise AssertionError(f"no {kind.__name__}")


async def sign_in(service: RunningService, username: str = "alice") -> None:
    """Let a user sign in, and the browser forget it."""
    browser = Browser(service.issuer)
    await ClientApp(service, browser).login(username)
    await browser.close()
