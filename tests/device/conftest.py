"""Devices that poll, and their users in front of a browser."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.device.tv import TELEVISIONS, Television
from tests.driving.browser import Browser
from tests.driving.service import RunningService


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`tv` is public, `box` authenticates, `box2` is another of the same kind."""
    config["clients"] += deepcopy(TELEVISIONS)
    return config


@pytest.fixture
async def tv(service: RunningService, browser: Browser) -> Television:
    """A device that has just asked for its codes."""
    return await Television.switch_on(service, browser)
