"""A client in ping mode gets a ping when its request is over (CIBA Core §10.2)."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from service.events.ciba import CibaMessageDelivered, CibaMessageFailed, CibaMessagePostponed
from service.outbox.delivering import INTERVAL
from service.store.stores import CIBA
from service.wiring.ciba import build_messages
from tests.ciba.consumption import NOTIFICATION_TOKEN, Device, Listener, answer
from tests.conftest import Clock
from tests.driving.browser import Browser
from tests.driving.contents import CONTENTS
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("ciba#10.2")

TOKEN = {"client_notification_token": NOTIFICATION_TOKEN}


@pytest.fixture
def pinged(device_of: Callable[[str], Device]) -> Device:
    """The client that gets pings."""
    return device_of("pinged")


async def nothing_waits(service: RunningService) -> None:
    """Until every message has been sent or given up."""
    for _ in range(6000):
        (waiting,) = await service.features.shared.kv.write(
            service.features.shared.stores.ciba_outbox.queue.count()
        )
        if waiting == 0:
            return
        await asyncio.sleep(0.01)
    raise AssertionError("a message still waits")


@pytest.mark.parametrize("action", ["allow", "deny"])
async def test_the_answer_is_announced_with_the_clients_token(
    pinged: Device, browser: Browser, party: Listener, action: str
) -> None:
    auth_req_id = await pinged.begin(**TOKEN)
    await answer(browser, auth_req_id, action)
    assert await party.ping() == {"auth_req_id": auth_req_id}
    headers = party.headers[0]
    assert headers["Authorization"] == f"Bearer {NOTIFICATION_TOKEN}"
    assert headers["Content-Type"] == "application/json"
    status = (await pinged.poll(auth_req_id)).status
    assert status == (200 if action == "allow" else 400)


async def test_a_pinged_client_may_poll_too(pinged: Device) -> None:
    auth_req_id = await pinged.begin(**TOKEN)
    assert (await pinged.poll(auth_req_id)).error == "authorization_pending"


async def test_the_end_of_a_request_is_announced(
    pinged: Device, party: Listener, clock: Clock
) -> None:
    auth_req_id = await pinged.begin(**TOKEN, requested_expiry="30")
    clock.forward(seconds=31)
    assert await party.ping() == {"auth_req_id": auth_req_id}
    assert (await pinged.poll(auth_req_id)).error == "expired_token"


async def test_nothing_is_announced_before(
    pinged: Device, party: Listener, service: RunningService
) -> None:
    auth_req_id = await pinged.begin(**TOKEN)
    await build_messages(service.features).ping(auth_req_id[3:19])
    await asyncio.sleep(INTERVAL + 0.3)
    assert party.bodies == []


@pytest.mark.parametrize("token", [None, "", "two words", "x" * 1025, "ä"])
async def test_the_clients_token_is_required_and_a_bearer_token(
    pinged: Device, token: str | None
) -> None:
    answered = await pinged.ask(client_notification_token=token)
    assert answered.refusal == (400, "invalid_request")


@pytest.mark.parametrize("status", [200, 202, 204])
async def test_any_success_is_one(
    pinged: Device,
    browser: Browser,
    party: Listener,
    service: RunningService,
    status: int,
) -> None:
    party.status = status
    await answer(browser, await pinged.begin(**TOKEN))
    await nothing_waits(service)
    delivered = [event for event in service.events if isinstance(event, CibaMessageDelivered)]
    assert [(one.client_id, one.kind, one.attempts) for one in delivered] == [("pinged", "ping", 1)]
    assert len(party.bodies) == 1


@pytest.mark.parametrize("content", CONTENTS.values(), ids=CONTENTS)
async def test_answer_to_a_ping_is_a_success_whatever_its_content(
    pinged: Device,
    browser: Browser,
    party: Listener,
    service: RunningService,
    content: tuple[bytes, dict[str, str]],
) -> None:
    party.status, party.content = 200, content
    await answer(browser, await pinged.begin(**TOKEN))
    await party.wait()
    await nothing_waits(service)
    assert any(isinstance(event, CibaMessageDelivered) for event in service.events)


@pytest.mark.parametrize("status", [302, 400, 401, 403])
async def test_a_refusal_is_final_and_no_redirect_is_followed(
    pinged: Device,
    browser: Browser,
    party: Listener,
    service: RunningService,
    status: int,
) -> None:
    party.status = status
    auth_req_id = await pinged.begin(**TOKEN)
    await answer(browser, auth_req_id)
    await nothing_waits(service)
    assert len(party.bodies) == 1
    (failed,) = [event for event in service.events if isinstance(event, CibaMessageFailed)]
    assert failed.cause == f"status {status}"
    assert (await pinged.poll(auth_req_id)).status == 200


async def test_trouble_is_repeated(
    pinged: Device,
    browser: Browser,
    party: Listener,
    events: list[object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("service.outbox.queue.PAUSES", (1, 1))
    party.answers = [503, 429]
    await answer(browser, await pinged.begin(**TOKEN))
    await party.wait(3)
    assert len([event for event in events if isinstance(event, CibaMessagePostponed)]) == 2


async def test_the_store_holds_neither_the_token_nor_the_id(
    pinged: Device, service: RunningService
) -> None:
    auth_req_id = await pinged.begin(**TOKEN)
    stores, kv = service.features.shared.stores, service.features.shared.kv
    (due,) = await kv.write(("ZRANGE", stores.ciba_outbox.queue.key, 0, -1))
    value = await kv.get(stores.ciba_outbox.deliveries.key(CIBA, due[0].decode()))
    assert value is not None
    assert NOTIFICATION_TOKEN.encode() not in value
    assert auth_req_id.encode() not in value
