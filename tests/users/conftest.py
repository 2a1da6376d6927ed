"""The service with users of another system that a test can switch off."""

from __future__ import annotations

from typing import Any

import pytest

from service.identity.sources import circuit
from tests.driving.service import RunningService
from tests.users.switched import SwitchedUsers


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    source = f"{SwitchedUsers.__module__}:{SwitchedUsers.__name__}"
    return config | {"users": {"source": source, "timeout": "30s"}}


@pytest.fixture
def store(service: RunningService) -> SwitchedUsers:  # noqa: ARG001 - which has made it
    """Where the users of the service come from."""
    return SwitchedUsers.made[-1]


@pytest.fixture
def always_probing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that is away is asked by every question, so that no test waits for it to be asked again."""
    monkeypatch.setattr(circuit, "PAUSE", 0.0)


@pytest.fixture
def never_probing(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system that is away is never asked again."""
    monkeypatch.setattr(circuit, "PAUSE", 3600.0)
