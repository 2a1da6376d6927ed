"""Several hashed secrets per client, each with its own end (RFC 6749 §2.3.1, RFC 7591 §3.2.1)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("6749#2.3.1")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Machine and api1 have a new secret without end, two that end soon, and one that has ended."""

    def at(**span: float) -> str:
        return (datetime.now(UTC) + timedelta(**span)).isoformat()

    secrets = [
        {"sha256": hashed("new")},
        {"sha256": hashed("ending"), "expires_at": at(minutes=10)},
        {"sha256": hashed("later"), "expires_at": at(minutes=20)},
        {"sha256": hashed("ended"), "expires_at": at(minutes=-1)},
    ]
    client_in(config, "machine")["client_secrets"] = secrets
    config["api_resources"][0]["secrets"] = secrets
    return config


async def status(service: RunningService, secret: str) -> tuple[int, int]:
    """Return the status of token and introspection endpoint."""
    auth = ("machine", f"{secret}-secret")
    token = await service.token(auth, grant_type="client_credentials")
    asked = await service.post("/connect/introspect", auth=("api1", auth[1]), token="x")
    return token.status, asked.status


async def test_every_unexpired_secret_is_accepted(service: RunningService) -> None:
    assert await status(service, "new") == (200, 200)
    assert await status(service, "ending") == (200, 200)


async def test_an_expired_secret_is_refused(service: RunningService) -> None:
    assert await status(service, "ended") == (401, 401)


async def test_a_secret_expires_by_itself(service: RunningService, clock: Clock) -> None:
    assert await status(service, "ending") == (200, 200)
    clock.forward(minutes=11)
    assert await status(service, "ending") == (401, 401)
    assert await status(service, "later") == (200, 200)
    assert await status(service, "new") == (200, 200)


async def test_a_reload_removes_a_secret(service: RunningService, config: dict[str, Any]) -> None:
    client_in(config, "machine")["client_secrets"].pop(0)
    config["api_resources"][0]["secrets"].pop(0)
    service.reload(config)
    assert await status(service, "new") == (401, 401)
