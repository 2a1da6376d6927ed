"""A service with an admin API, and clients that may use it in different ways."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.driving.registry import fresh_configuration, hashed
from tests.driving.service import Answer, RunningService

ALICE = "818727"
OPERATOR_SCOPES = "admin.read admin.write"

Admin = Callable[..., Awaitable[Answer]]


def operator(client_id: str, *scopes: str, **others: Any) -> dict[str, Any]:
    """A client that lists scopes of the admin API, by client_credentials unless `others` says otherwise."""
    return {
        "client_id": client_id,
        "client_secrets": [{"sha256": hashed(client_id)}],
        "allowed_grant_types": ["client_credentials"],
        "allowed_scopes": list(scopes),
        **others,
    }


@pytest.fixture
def config() -> dict[str, Any]:
    """The usual configuration, with the admin API and its clients."""
    configuration = fresh_configuration()
    configuration["admin"] = {"url": "http://127.0.0.1:0", "allowed_users": [{"sub": [ALICE]}]}
    configuration["clients"] += [
        operator("operations", "admin.read", "admin.write", "api1"),
        operator("watching", "admin.read"),
        operator(
            "desk",
            *("openid", "admin.read", "admin.write", "api1"),
            allowed_grant_types=["authorization_code", "refresh_token"],
            allow_offline_access=True,
            redirect_uris=["https://desk.example/callback"],
        ),
    ]
    return configuration


async def token_of(service: RunningService, client: str, scope: str = OPERATOR_SCOPES) -> str:
    """A client's own token for the admin API."""
    answer = await service.token(client, grant_type="client_credentials", scope=scope)
    token: str = answer["access_token"]
    return token


@pytest.fixture
async def admin(service: RunningService) -> Admin:
    """Sends requests of the client `operations`, which may do everything."""
    token = await token_of(service, "operations")

    async def send(method: str, path: str, **options: Any) -> Answer:
        return await service.admin(method, path, token, **options)

    return send
