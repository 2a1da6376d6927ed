"""Two tenants with a user each, one client for each, and clients for both."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.ciba.consumption import ciba_client
from tests.device.tv import TELEVISIONS
from tests.driving.registry import client_in

TENANT_OF = {"alice": "acme", "bob": "beta"}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`web` is for both tenants and for those of none; `spa`, `tv` and `till` are for Beta, `implicit` for Acme."""
    for user in config["users"]["list"]:
        user["tenant"] = TENANT_OF.get(user["username"])
    config["tenants"] = [
        {"name": "acme", "display_name": "Acme & Sons", "domains": ["acme.example"]},
        {"name": "beta", "display_name": "Beta"},
    ]
    config["clients"] += deepcopy(TELEVISIONS)
    config["clients"].append(ciba_client("till", client_in(config, "web")["client_secrets"]))
    for name, tenant in (("spa", "beta"), ("tv", "beta"), ("till", "beta"), ("implicit", "acme")):
        client_in(config, name)["tenants"] = [tenant]
    return config
