"""The registry with two extension grants more, and a client that may use them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.registry import hashed

HANDLERS = "tests.extension_grants"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`guest` may use both."""
    config["extension_grants"] = [
        {
            "handler": f"{HANDLERS}.invitations:InvitationGrant",
            "options": {"invitations": {"letter": "818727"}, "welcome": "come in"},
        },
        {"handler": f"{HANDLERS}.misbehaving:MisbehavingGrant", "timeout": "1s"},
    ]
    config["clients"].append(
        {
            "client_id": "guest",
            "client_secrets": [{"sha256": hashed("guest")}],
            "allowed_grant_types": [
                "urn:example:invitation",
                "urn:example:misbehaving",
                "refresh_token",
            ],
            "allowed_scopes": ["api1", "api2"],
            "allow_offline_access": True,
        }
    )
    return config
