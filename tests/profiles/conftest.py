"""A client of each profile, with what it needs to meet it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.browser import Browser
from tests.driving.registry import client_in
from tests.driving.service import RunningService
from tests.profiles.held import HeldApp, jwks


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`security` follows FAPI 2.0 Security, `signing` and `plain` Message Signing besides, `modern` OAuth 2.1."""
    config["signing"] = {"algorithms": ["RS256", "ES256"]}
    client = {
        "allowed_grant_types": ["authorization_code", "refresh_token", "client_credentials"],
        "allowed_scopes": ["openid", "api2"],
        "allow_offline_access": True,
        "jwks": jwks(),
    }
    security = client | {"client_id": "security", "profile": "fapi2_security"}
    modern = client | {
        "client_id": "modern",
        "profile": "oauth21",
        "client_secrets": client_in(config, "web")["client_secrets"],
    }
    signing = client | {
        "client_id": "signing",
        "profile": "fapi2_message_signing",
        "request_object_encryption_alg": "ECDH-ES",
    }
    plain = signing | {"client_id": "plain", "profile_options": {"response": "plain"}}
    clients = [security, signing, plain, modern]
    for one in clients:
        one["redirect_uris"] = [f"https://{one['client_id']}.example/callback"]
    config["clients"] += clients
    config["api_resources"][1]["introspection_signed_response"] = True
    return config


@pytest.fixture
def held(service: RunningService, browser: Browser) -> Callable[[str], HeldApp]:
    """An application of one of these clients."""
    return lambda client_id: HeldApp(service, browser, client_id)


@pytest.fixture
def security(held: Callable[[str], HeldApp]) -> HeldApp:
    """The application that follows FAPI 2.0 Security."""
    return held("security")
