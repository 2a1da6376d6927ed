"""A service that lets clients register themselves, and clients that do."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.browser import Browser
from tests.driving.registering import RegisteredApp
from tests.driving.service import RunningService

SCOPES = ["openid", "profile", "email", "api1", "offline_access"]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Registration that is open to all."""
    config["registration"] = {"enabled": True, "allowed_scopes": SCOPES}
    return config


@pytest.fixture
def registering(service: RunningService, browser: Browser) -> Callable[..., Any]:
    """Register a client, `registering(client_name="Mine")`; the client in the browser."""

    async def registered(**metadata: Any) -> RegisteredApp:
        return await RegisteredApp.register(service, browser, **metadata)

    return registered
