"""A client asks one replica, polls others, and the user answers at yet another (CIBA Core §7, §10, §11)."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from socket import create_server

import pytest

from tests.ciba.consumption import (
    NOTIFICATION_TOKEN,
    Device,
    Listener,
    answer,
    listener,
    open_request,
)
from tests.driving.browser import Browser
from tests.driving.service import RunningService
from tests.scale.any_replica.conftest import Ports

TOKEN = {"client_notification_token": NOTIFICATION_TOKEN}


@pytest.fixture
async def told(ports: Ports) -> AsyncIterator[Listener]:
    """The client's site, where pings arrive."""
    async with listener(create_server(("127.0.0.1", ports.party))) as told:
        yield told


@pytest.fixture
def till(service: RunningService) -> Device:
    return Device(service)


async def test_an_answer_is_known_everywhere_and_announced_once(
    till: Device, browser: Browser, told: Listener
) -> None:
    auth_req_id = await till.begin(**TOKEN)
    assert (await till.poll(auth_req_id)).error == "authorization_pending"
    await answer(browser, auth_req_id)
    assert await told.ping() == {"auth_req_id": auth_req_id}
    answers = await asyncio.gather(*[till.poll(auth_req_id) for _ in range(9)])
    assert sorted(each.status for each in answers) == [200, *[400] * 8]
    assert len(told.bodies) == 1


async def test_the_pace_of_polls_is_kept_everywhere(till: Device, told: Listener) -> None:
    auth_req_id = await till.begin(**TOKEN, requested_expiry="1")
    errors = [(await till.poll(auth_req_id)).error for _ in range(3)]
    assert errors[0] == "authorization_pending"
    assert set(errors[1:]) <= {"slow_down", "expired_token"}
    assert await told.ping() == {"auth_req_id": auth_req_id}


async def test_a_denial_is_known_everywhere(till: Device, browser: Browser, told: Listener) -> None:
    auth_req_id = await till.begin(**TOKEN)
    page = await open_request(browser, auth_req_id)
    await browser.submit(page, action="deny")
    assert (await browser.submit(page, action="allow")).status == 400
    assert (await till.poll(auth_req_id)).error == "access_denied"
    await told.ping()
