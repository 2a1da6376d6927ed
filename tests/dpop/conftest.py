"""A client that holds a key, and one whose tokens must be bound to one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "robot")["dpop_bound_access_tokens"] = True
    return config


@pytest.fixture
def key(service: RunningService) -> DpopKey:
    """The key of a client."""
    return DpopKey(service.issuer)
