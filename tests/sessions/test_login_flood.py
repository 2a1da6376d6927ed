"""A flood of logins from one network is refused there, and stops nobody else's (RFC 6585 §4)."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from itertools import islice
from typing import Any

import pytest
from msgspec.structs import force_setattr

from service.identity import passwords
from service.identity.passwords import FairTurns
from service.model.password_hash import PasswordHash
from tests.driving.service import Answer, RunningService

PLACES, SENT = 5, 12
"""Of one network, and how many it sends at once."""

pytestmark = pytest.mark.rfc("6585#4")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    config["server"] = {"trusted_proxies": ["127.0.0.0/8"]}
    config["limits"] = {"login_failures": 1000}
    return config


@pytest.fixture
def going_on(service: RunningService, monkeypatch: pytest.MonkeyPatch) -> Iterator[threading.Event]:
    """One hash at a time, and a wrong password hangs until this is set."""
    going_on, matches = threading.Event(), vars(passwords)["matches"]

    def hanging(password: str, stored: PasswordHash) -> bool:
        if password == "wrong":
            going_on.wait(60)
        return bool(matches(password, stored))

    monkeypatch.setattr(passwords, "matches", hanging)
    monkeypatch.setattr(passwords, "PER_NETWORK", PLACES)
    monkeypatch.setattr(passwords, "PATIENCE", 60)
    force_setattr(service.features.local_sign_in, "turns", FairTurns(1))
    yield going_on
    going_on.set()


async def log_in(service: RunningService, address: str, password: str = "alice-password") -> Answer:
    return await service.post(
        "/connect/token",
        auth="frontend",
        headers={"X-Forwarded-For": address},
        grant_type="password",
        username="alice",
        password=password,
        scope="api1",
    )


async def test_a_network_with_too_many_logins_is_asked_to_wait_and_others_are_not(
    service: RunningService, going_on: threading.Event
) -> None:
    flood = {asyncio.create_task(log_in(service, "192.0.2.1", "wrong")) for _ in range(SENT)}
    refused = [await one for one in islice(asyncio.as_completed(flood), SENT - PLACES)]
    assert {one.refusal for one in refused} == {(429, "temporarily_unavailable")}
    assert {one.headers["Retry-After"] for one in refused} == {"5"}
    other = asyncio.create_task(log_in(service, "192.0.2.2"))
    going_on.set()
    assert (await other).status == 200
    served = [answer for answer in await asyncio.gather(*flood) if answer.status != 429]
    assert [answer.refusal for answer in served] == [(400, "invalid_grant")] * PLACES
