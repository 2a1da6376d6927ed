"""Clients that may ask for ID-JAGs."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.id_jag.issuing import target
from tests.token_exchange.exchanging import EXCHANGE

RULE: dict[str, Any] = {
    "clients": ["web", "consenting", "spa"],
    "subject_token_types": ["id_token", "refresh_token", "access_token"],
    "subject_audience": ["api1"],
    "requested_token_types": ["id_jag"],
    "targets": [target()],
}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`web` has another name over there, `consenting` the same, `spa` does not authenticate."""
    for name in ("web", "consenting", "spa", "implicit"):
        client_in(config, name)["allowed_grant_types"].append(EXCHANGE)
    config["token_exchange"] = [deepcopy(RULE)]
    return config


@pytest.fixture
async def tokens(app: ClientApp) -> Any:
    """Alice's tokens for `web`."""
    return (await app.tokens(scope="openid api1 offline_access")).json
