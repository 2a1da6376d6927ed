"""While Redis is unavailable the metrics say so, and not that it answers fast."""

from __future__ import annotations

import re
import subprocess
from typing import Any

import pytest

from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

Mortal = tuple[str, subprocess.Popen[bytes]]


@pytest.fixture
def config(mortal_redis: Mortal) -> dict[str, Any]:
    return fresh_configuration() | {"store": {"url": mortal_redis[0]}}


async def shown(service: RunningService) -> dict[str, float]:
    """Return the metrics of the store."""
    text = (await service.get("/metrics")).body.decode()
    found = re.findall(r"^token_service_(store_\w+|circuit_open) (\S+)$", text, re.MULTILINE)
    return {name: float(value) for name, value in found}


async def test_an_open_circuit_is_shown_and_what_it_refuses_is_a_failure_but_no_round_trip(
    service: RunningService, mortal_redis: Mortal
) -> None:
    assert (await shown(service))["circuit_open"] == 0
    mortal_redis[1].kill()
    mortal_redis[1].wait()
    assert (await service.user_token("opaque")).status == 503
    opened = await shown(service)
    assert opened["circuit_open"] == 1
    for _ in range(10):
        assert (await service.user_token("opaque")).status == 503
    refused = await shown(service)
    assert refused["store_failures_total"] >= opened["store_failures_total"] + 10
    assert refused["store_seconds_count"] == opened["store_seconds_count"]
    assert refused["store_waiting"] == 0
