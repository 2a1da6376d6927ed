"""Discovery tells what can be registered (RFC 8414 §2, OpenID Connect Discovery §3)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("8414#2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """No client but those that will come."""
    config["clients"] = []
    return config


async def test_all_registrable_metadata_are_returned(service: RunningService) -> None:
    document = (await service.get("/.well-known/openid-configuration")).json
    assert document["registration_endpoint"] == f"{service.issuer}/connect/register"
    assert document["grant_types_supported"] == [
        "authorization_code",
        "client_credentials",
        "implicit",
        "refresh_token",
        "urn:ietf:params:oauth:grant-type:device_code",
        "urn:ietf:params:oauth:grant-type:jwt-bearer",
    ]
    assert document["device_authorization_endpoint"].endswith("/connect/deviceauthorization")
    assert len(document["response_types_supported"]) == 7
    assert "offline_access" in document["scopes_supported"]
    assert "none" in document["token_endpoint_auth_methods_supported"]
    assert document["id_token_signing_alg_values_supported"] == ["ES256", "HS256", "HS384", "HS512"]
