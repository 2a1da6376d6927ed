"""Clients that may use CIBA, and sites that get pings and notes."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from tests.ciba.consumption import Device, Listener, ciba_client, listener
from tests.driving.registry import client_in, password_of, user_in
from tests.driving.service import RunningService
from tests.request_objects.sending import jwks

SHARED_SECRET = "a-secret-of-at-least-32-characters"
TOKEN_MODE = "backchannel_token_delivery_mode"


@pytest.fixture
async def party() -> AsyncIterator[Listener]:
    """The site that gets them."""
    async with listener() as party:
        yield party


@pytest.fixture
def config(config: dict[str, Any], party: Listener) -> dict[str, Any]:
    secrets = client_in(config, "web")["client_secrets"]
    ping = {TOKEN_MODE: "ping", "backchannel_client_notification_endpoint": party.url}
    signing = {"backchannel_authentication_request_signing_alg": "ES256"}
    client_in(config, "web")["jwks"] = jwks()
    config["clients"] += [
        ciba_client("till", secrets, jwks=jwks(), **{TOKEN_MODE: "poll"}),
        ciba_client("other-till", secrets),
        ciba_client("pinged", secrets, **ping),
        ciba_client("signing", secrets, jwks=jwks(), **signing),
        ciba_client("coded", secrets, backchannel_user_code_parameter=True),
        ciba_client("strict", secrets, user_sso_lifetime="1m"),
        ciba_client(
            "hashing", [*secrets, {"value": SHARED_SECRET}], id_token_signed_response_alg="HS256"
        ),
        ciba_client("foreign", secrets, enable_local_login=False),
    ]
    user_in(config, "bob")["ciba_user_code"] = password_of("code")
    config["authentication_contexts"] = [
        {"acr": "password", "amr": ["pwd"]},
        {"acr": "strong", "amr": ["pwd", "otp"]},
    ]
    return config


@pytest.fixture
def till(service: RunningService) -> Device:
    """A client that polls."""
    return Device(service)


@pytest.fixture
def device_of(service: RunningService) -> Callable[[str], Device]:
    """Another client."""
    return lambda client_id: Device(service, client_id)
