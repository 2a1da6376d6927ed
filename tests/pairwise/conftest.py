"""Clients that know people by identifiers of their own, in two sectors (OIDC Core §8.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.ciba.consumption import CIBA
from tests.driving import client_app
from tests.driving.registry import client_in, hashed

SUB, BOB = "818727", "88421113"

CLIENTS: dict[str, dict[str, Any]] = {
    "shop": {"redirect_uris": ["https://shop.example/a", "https://shop.example:8443/b"]},
    "shop-app": {"redirect_uris": ["https://SHOP.example/app"]},
    "forum": {"redirect_uris": ["https://forum.example/callback"]},
    "group": {
        "redirect_uris": ["https://one.example/callback", "https://two.example/callback"],
        "sector_identifier_uri": "https://shop.example/sector.json",
    },
    "phone": {"redirect_uris": ["com.example.phone:/callback"]},
    "tablet": {"redirect_uris": ["com.example.tablet:/callback"]},
    "terminal": {"redirect_uris": ["http://127.0.0.1/callback"]},
    "desktop": {"redirect_uris": ["http://127.0.0.1/callback"]},
}


@pytest.fixture
def config(config: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Add clients with pairwise subjects, public ones among them."""
    usual = client_in(config, "web")
    for client_id, changes in CLIENTS.items():
        entry = usual | changes | {"client_id": client_id, "subject_type": "pairwise"}
        entry["allowed_grant_types"] = [*usual["allowed_grant_types"], CIBA]
        entry["client_secrets"] = [{"sha256": hashed(client_id)}]
        entry["post_logout_redirect_uris"] = [f"https://{client_id}.example/bye"]
        config["clients"].append(entry)
        monkeypatch.setitem(client_app.REDIRECT_URIS, client_id, entry["redirect_uris"][0])
    config["pairwise_salt"] = "a salt that nobody guesses"
    return config
