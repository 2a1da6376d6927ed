"""`explain` knows a registration access token, and whose it is (RFC 7592 §1.2)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.admin.explain.token import explain_token
from tests.driving.registering import RegisteredApp
from tests.driving.service import RunningService

Registering = Callable[..., Awaitable[RegisteredApp]]


async def explained(service: RunningService, client: RegisteredApp) -> dict[str, str]:
    """Explain the client's token to the operator."""
    return await explain_token(service.features, client.registered["registration_access_token"])


async def test_the_explanation_names_the_client(
    registering: Registering, service: RunningService
) -> None:
    client = await registering()
    facts = await explained(service, client)
    assert facts["client"] == client.client_id
    assert (facts["kind"], facts["state"]) == ("registration access token", "active")
    assert facts["expires"].startswith("20")


async def test_the_explanation_says_that_a_client_was_deleted(
    registering: Registering, service: RunningService
) -> None:
    client = await registering()
    await client.manage("DELETE")
    state = (await explained(service, client))["state"]
    assert state == "inactive: its client was deleted or has expired"


class TestWithALifetime:
    """A registration expires by itself."""

    @pytest.fixture
    def config(self, config: dict[str, Any]) -> dict[str, Any]:
        config["registration"]["client_lifetime"] = "1h"
        return config

    async def test_the_explanation_says_when_the_client_expires(
        self, registering: Registering, service: RunningService
    ) -> None:
        assert (await explained(service, await registering()))["expires"].startswith("20")
