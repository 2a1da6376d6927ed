"""Replicas that a race is run at."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.service import RunningService


@pytest.fixture
async def replicas(start: Start, config: dict[str, Any], store_url: str) -> list[RunningService]:
    """Three with the same store, or one where its store is in its own memory."""
    number = 1 if store_url.startswith("memory") else 3
    return [await start(config) for _ in range(number)]
