"""The service with the users of an HTTP service on loopback."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest

from tests.driving.listening import listening
from tests.http_users.people_server import SECRET, PeopleServer


@pytest.fixture
async def people() -> AsyncIterator[PeopleServer]:
    """The other service, which a test can change."""
    server = PeopleServer()
    async with listening(server.serve) as origin:
        server.origin = origin
        yield server


@pytest.fixture
def config(config: dict[str, Any], people: PeopleServer) -> dict[str, Any]:
    urls = {"find_url": f"{people.origin}/find", "verify_url": f"{people.origin}/verify"}
    http = {**urls, "bearer_token": SECRET}
    return config | {
        "users": {"source": "http", "timeout": "30s", "max_concurrent": 4, "http": http}
    }
