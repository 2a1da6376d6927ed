"""A client of each profile, with what it needs to meet it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.browser import Browser
from tests.driving.service import RunningService
from tests.profiles.held import HeldApp, add_clients_with_profiles


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The usual clients, who have no profile, get tokens by RS256."""
    config["signing"] = {"algorithms": ["RS256", "ES256"]}
    return add_clients_with_profiles(config)


@pytest.fixture
def held(service: RunningService, browser: Browser) -> Callable[[str], HeldApp]:
    """An application of one of these clients."""
    return lambda client_id: HeldApp(service, browser, client_id)


@pytest.fixture
def security(held: Callable[[str], HeldApp]) -> HeldApp:
    """The application that follows FAPI 2.0 Security."""
    return held("security")
