"""A client may send a limited number of token requests each minute (RFC 6585 §4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("6585#4")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Three requests a minute."""
    config["limits"] = {"token_requests_per_minute": 3}
    return config


@pytest.mark.usefixtures("fresh_minute")
async def test_request_over_the_limit_is_answered_with_retry_after(
    service: RunningService, clock: Clock
) -> None:
    asked = [await service.token("machine", grant_type="client_credentials") for _ in range(7)]
    assert {answer.status for answer in asked[:3]} == {200}
    assert asked[-1].refusal == (429, "temporarily_unavailable")
    assert 0 < int(asked[-1].headers["Retry-After"]) <= 60
    clock.forward(seconds=int(asked[-1].headers["Retry-After"]))
    again = await service.token("machine", grant_type="client_credentials")
    assert again.status == 200


async def test_every_client_has_its_own_count(service: RunningService) -> None:
    for _ in range(7):
        await service.token("machine", grant_type="client_credentials")
    assert (await service.token("robot", grant_type="client_credentials")).status == 200


async def test_failed_authentications_do_not_count_against_a_client(
    service: RunningService,
) -> None:
    for _ in range(7):
        await service.token(("machine", "wrong"), grant_type="client_credentials")
    assert (await service.token("machine", grant_type="client_credentials")).status == 200
