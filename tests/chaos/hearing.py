"""A webhook of the replicas, which hears of every granted authorization request."""

from __future__ import annotations

import asyncio
import json
import socket
from base64 import b64encode
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from tests.chaos.ledger import Heard, Ledger
from tests.driving.listening import serving

KINDS = ["authorization_granted"]
PATIENCE = 20
"""Seconds after the load in which everything has to be heard: leases of a process that was killed have to end."""
OUTGOING = {"timeout": "2s", "allowed_networks": ["127.0.0.0/8"]}


def open_socket() -> socket.socket:
    """Return the socket of the webhook, which all scenarios of an installation use."""
    return socket.create_server(("127.0.0.1", 0))


def events_to(listening: socket.socket) -> Mapping[str, Any]:
    """Return what the configuration says of it."""
    secret = "whsec_" + b64encode(bytes(32)).decode()
    url = f"http://127.0.0.1:{listening.getsockname()[1]}/"
    return {"webhooks": [{"url": url, "secrets": [secret], "kinds": KINDS}]}


@asynccontextmanager
async def hearing(listening: socket.socket, ledger: Ledger) -> AsyncIterator[None]:
    """Write down what comes, as long as the block lasts."""

    async def hear(request: web.Request) -> web.Response:
        event = json.loads(await request.read())
        ledger.heard.append(Heard(event["requestid"], event["subject"]))
        return web.Response(status=204)

    app = web.Application()
    app.add_routes([web.post("/", hear)])
    async with serving(app, bound=listening.dup()):
        yield


async def all_heard(ledger: Ledger) -> None:
    """Wait until everything was heard that is to be."""
    for _ in range(PATIENCE * 10):
        if not ledger.unheard():
            return
        await asyncio.sleep(0.1)
