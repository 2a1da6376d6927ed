"""ID-JAGs that clients of this service ask for."""

from __future__ import annotations

from typing import Any

from tests.driving.service import Answer, RunningService
from tests.token_exchange.exchanging import TYPE, exchange

OTHER = "https://as.other.example"
MCP = "https://mcp.other.example/mcp"


def target(**changes: Any) -> dict[str, Any]:
    """Another authorization server."""
    usual = {
        "issuer": OTHER,
        "resources": [MCP, "https://files.other.example"],
        "scopes": ["tools.read", "tools.write"],
        "client_ids": {"web": "web-over-there"},
    }
    return usual | changes


async def ask(service: RunningService, token: str, client: str = "web", **form: Any) -> Answer:
    """Ask for an ID-JAG for the other server."""
    usual = {
        "of_type": "id_token",
        "requested_token_type": TYPE + "id-jag",
        "audience": OTHER,
        "scope": "tools.read",
        "resource": MCP,
    }
    return await exchange(service, token, client, **usual | form)
