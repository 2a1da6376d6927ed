"""A client registers itself and is one like any other (RFC 7591 §3, OpenID Connect Registration §3)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest

from tests.driving.registering import REDIRECT_URI, RegisteredApp, register
from tests.driving.service import RunningService

Registering = Callable[..., Awaitable[RegisteredApp]]
pytestmark = pytest.mark.rfc("7591#3.2.1")


async def test_a_client_registers_itself_and_gets_tokens(
    registering: Registering, service: RunningService
) -> None:
    client = await registering(client_name="Mine")
    tokens = await client.tokens(scope="openid api1")
    assert tokens.status == 200
    assert await service.is_active(tokens["access_token"])


async def test_the_answer_says_what_is_in_force(service: RunningService) -> None:
    answer = await register(service, client_name="Mine", unknown="ignored")
    told = answer.json
    assert answer.status == 201
    assert answer.headers["Cache-Control"] == "no-store"
    assert (
        told.items()
        >= {
            "client_name": "Mine",
            "redirect_uris": [REDIRECT_URI],
            "grant_types": ["authorization_code"],
            "response_types": ["code"],
            "token_endpoint_auth_method": "client_secret_basic",
            "application_type": "web",
            "subject_type": "public",
            "scope": "api1 email openid profile",
            "client_secret_expires_at": 0,
        }.items()
    )
    assert (
        told["registration_client_uri"] == f"{service.issuer}/connect/register/{told['client_id']}"
    )
    assert "unknown" not in told
