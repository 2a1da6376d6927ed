"""One service for all rows, on the embedded store: a refusal changes nothing, so that no row is in the way of another."""

from __future__ import annotations

import json
import socket
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio

from service.start.load import load
from tests.conftest import ENCRYPTION_KEY
from tests.driving.authority import root, self_signed
from tests.driving.browser import Browser
from tests.driving.dpop import DpopKey
from tests.refusals.registry import configuration
from tests.refusals.world import World, serving


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def world(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[World]:
    """The service, and alice's browser that has signed in."""
    folder = tmp_path_factory.mktemp("refusals")
    authority, own = root(), self_signed("CN=anything")
    (folder / "ca.pem").write_text(authority.pem)
    listening = socket.create_server(("127.0.0.1", 0))
    issuer = f"http://localhost:{listening.getsockname()[1]}"
    config = configuration(str(folder / "ca.pem"), own) | {"issuer": issuer}
    config["store"] = {"url": "memory://"}
    config["signing"]["encryption_key"] = ENCRYPTION_KEY
    file = folder / "config.yaml"
    file.write_text(json.dumps(config))
    async with serving(load(file, {}), listening) as service:
        world = World(
            service=service,
            browser=Browser(issuer),
            authority=authority,
            own=own,
            key=DpopKey(issuer),
            stranger=DpopKey(issuer),
        )
        await world.app("web").login()
        yield world
        await world.browser.close()
