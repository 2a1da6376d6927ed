"""Limits count for all replicas together: three replicas do not allow three times as many attempts."""

from __future__ import annotations

import asyncio

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.scale.any_replica.dice import Dice
from tests.scale.any_replica.registry import FAILURES, PER_MINUTE


async def _attempt(app: ClientApp, password: str, address: str) -> Page:
    """Try a password from an address that a proxy before ours names."""
    fields = dict((await app.authorize()).forms[0].fields)
    fields |= {"username": "alice", "password": password, "action": "login"}
    headers = {"X-Forwarded-For": address}
    return await app.browser.post("/account/login", fields, headers=headers)


async def test_failures_lock_at_every_replica(app: ClientApp, dice: Dice) -> None:
    address = f"192.0.2.{dice.seed}"
    for _ in range(FAILURES):
        await _attempt(app, "wrong", address)
    for _ in range(3):
        assert (await _attempt(app, "alice-password", address)).has("login-error")
    assert "code" in (await _attempt(app, "alice-password", "198.51.100.1")).parameters


async def test_a_client_s_requests_are_counted_together(
    service: RunningService, dice: Dice
) -> None:
    ask = {"grant_type": "client_credentials"}
    over = 2 * PER_MINUTE + 1  # a minute may end between them; one replica alone sees a third
    answers = await asyncio.gather(
        *(service.token(f"busy-{dice.seed}", **ask) for _ in range(over))
    )
    assert {answer.status for answer in answers} == {200, 429}
