"""A device polls at one replica, its user answers at another, and the interval is the same at all (RFC 8628 §3)."""

from __future__ import annotations

import asyncio

from tests.device.tv import Television
from tests.driving.browser import Browser
from tests.driving.service import RunningService


async def test_a_device_gets_tokens_that_its_user_has_allowed_elsewhere(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser)
    assert (await tv.poll()).refusal == (400, "authorization_pending")
    assert (await tv.decide()).has("device-done")
    answers = await asyncio.gather(*(tv.poll() for _ in range(12)))
    assert sum(answer.status == 200 for answer in answers) == 1


async def test_every_replica_finds_a_poll_too_early(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser)
    assert (await tv.poll()).error == "authorization_pending"
    assert {(await tv.poll()).error for _ in range(4)} == {"slow_down"}
    await tv.decide("deny")
    assert (await tv.poll()).error == "access_denied"
