"""Clients that only some users may use: by their groups, or by their tenant."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.allowed_users.paths import SHOP, World
from tests.ciba.consumption import ciba_client
from tests.device.tv import TELEVISIONS
from tests.driving.browser import Browser
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService
from tests.extension_grants.invitations import InvitationGrant
from tests.jwt_bearer.foreign import partner_entry, presenter_entry
from tests.token_exchange.exchanging import EXCHANGE


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Alice is of the staff and of Acme; every way to a token is open to some client."""
    by_name = {user["username"]: user for user in config["users"]["list"]}
    by_name["alice"]["claims"]["groups"] = ["staff", "admins"]
    by_name["alice"]["tenant"] = "acme"
    by_name["bob"]["tenant"] = "beta"
    config["tenants"] = [{"name": "acme", "display_name": "Acme"}, {"name": "beta"}]
    config["clients"] += deepcopy(TELEVISIONS)
    config["clients"] += [
        ciba_client("till", client_in(config, "web")["client_secrets"]),
        presenter_entry("courier", hashed("courier")),
    ]
    config["trusted_issuers"] = [partner_entry(subject="818727", existing_user=True)]
    for name in ("api1", "frontend", "web"):
        client_in(config, name)["allowed_grant_types"].append(EXCHANGE)
    client_in(config, "api1")["allowed_scopes"] += ["openid"]
    client_in(config, "api1")["allowed_grant_types"].append("client_credentials")
    client_in(config, "gateway")["allowed_grant_types"].append(EXCHANGE)
    other = client_in(config, "api1") | {"client_secrets": [{"sha256": hashed("broker")}]}
    config["clients"].append(other | {"client_id": "broker", "api_resource": "api1"})
    host = presenter_entry("host", hashed("host"))
    config["clients"].append(host | {"allowed_grant_types": [InvitationGrant.grant_type]})
    config["extension_grants"] = [
        {
            "handler": "tests.extension_grants.invitations:InvitationGrant",
            "options": {"invitations": {"for-alice": "818727"}},
        }
    ]
    config["trust_domains"] = [{"name": SHOP, "clients": ["gateway"], "scopes": ["checkout"]}]
    own = {"clients": ["web"], "scopes": ["openid", "api1"], "audiences": ["api1"]}
    config["token_exchange"] = [
        {
            "clients": ["api1", "broker"],
            "actor": "optional",
            "scopes": ["api2"],
            "audiences": ["api2"],
        },
        own | {"subject_token_types": ["id_token"], "subject_audience": ["api1"]},
    ]
    return config


@pytest.fixture
def world(service: RunningService, browser: Browser) -> World:
    return World(service, browser)
