"""Clients that exchange, and the rules that let them."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.driving.registry import add_client, client_in, hashed
from tests.token_exchange.exchanging import EXCHANGE, SHARED_SECRET


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """api1 goes on to api2; `broker` and `understudy` impersonate; `web` and `frontend` exchange their own tokens."""
    usual = client_in(config, "api1")
    usual["allowed_grant_types"] = ["delegation", EXCHANGE]
    usual["allowed_scopes"] = ["openid", "api1", "api2", "api1.read"]

    add = partial(add_client, config, usual)

    add("api2", allowed_scopes=["api1", "api2"])
    add("broker", api_resource="api1")
    add("understudy", api_resource="api1")
    add("witness", api_resource="api1")
    add("opaque-api", api_resource="api1", access_token_type="reference")
    add("quick", api_resource="api1", access_token_lifetime="1m")
    add(
        "sharing",
        id_token_signed_response_alg="HS256",
        client_secrets=[{"sha256": hashed("sharing")}, {"value": SHARED_SECRET}],
    )
    for name in ("web", "frontend", "opaque", "implicit", "spa"):
        client_in(config, name)["allowed_grant_types"].append(EXCHANGE)
    own = {
        "clients": ["web", "frontend", "opaque", "implicit", "spa", "sharing"],
        "subject_audience": ["api1"],
        "scopes": ["openid", "profile", "api1", "api2"],
        "audiences": ["api1", "api2"],
    }
    config["token_exchange"] = [
        {
            "clients": ["broker", "understudy"],
            "actor": "none",
            "scopes": ["api2"],
            "audiences": ["api2"],
        },
        {"clients": ["witness"], "actor": "required", "scopes": ["api2"], "audiences": ["api2"]},
        {
            "clients": ["api1", "api2", "opaque-api", "quick"],
            "subject_token_types": ["access_token", "jwt"],
            "requested_token_types": ["access_token", "jwt"],
            "scopes": ["api1", "api2", "openid"],
            "audiences": ["api1", "api2"],
            "max_depth": 3,
        },
        own
        | {
            "subject_token_types": ["access_token", "refresh_token", "id_token"],
            "requested_token_types": ["access_token", "jwt", "refresh_token", "id_token"],
        },
    ]
    return config
