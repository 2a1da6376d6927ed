"""The lifetime of ID tokens, however they are got (OIDC Core §2)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import claims_in

pytestmark = pytest.mark.rfc("openid-core#2")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "implicit")["identity_token_lifetime"] = "90s"
    return config


async def test_an_id_token_lasts_as_long_as_its_client_says(
    app_of: Callable[[str], ClientApp],
) -> None:
    app = app_of("implicit")
    front_channel = (await app.login(response_type="id_token", scope="openid")).parameters
    tokens = await app.tokens(scope="openid offline_access")
    refreshed = await app.refresh(tokens["refresh_token"])
    for each in (front_channel, tokens, refreshed):
        claims = claims_in(each["id_token"])
        assert claims["exp"] - claims["iat"] == 90
