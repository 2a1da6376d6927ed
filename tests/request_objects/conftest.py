"""Clients that may send request objects, each registered in another way."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.listening import listening
from tests.request_objects.sending import Sender, let_send_objects
from tests.request_objects.site import Site

PATHS = ("/request", "/request?of=1", "/other#hash", "/nothing", "/elsewhere", "/slow")


@pytest.fixture
async def site() -> AsyncIterator[Site]:
    """The clients' server on loopback."""
    site = Site()
    async with listening(site.serve) as site.base:
        yield site


@pytest.fixture
def config(config: dict[str, Any], site: Site, request: pytest.FixtureRequest) -> dict[str, Any]:
    """Clients that send request objects, and a service that does not wait long for a slow one."""
    config["outgoing"] = {"timeout": "1s" if "/slow" in request.node.name else "30s"}
    return let_send_objects(config, *(site.base + path for path in PATHS))


@pytest.fixture
def web(app: ClientApp) -> Sender:
    """Registered no algorithm in particular."""
    return Sender(app)


@pytest.fixture
def spa(app_of: Callable[[str], ClientApp]) -> Sender:
    """Registered one algorithm."""
    return Sender(app_of("spa"))


@pytest.fixture
def unsigning(app_of: Callable[[str], ClientApp]) -> Sender:
    """Registered `none`."""
    return Sender(app_of("implicit"))


@pytest.fixture
def strict(app_of: Callable[[str], ClientApp]) -> Sender:
    """Wants nothing but what it has signed to count."""
    return Sender(app_of("consenting"))
