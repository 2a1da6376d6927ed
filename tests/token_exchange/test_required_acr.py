"""An exchange gives no client a token of a user that authenticated more weakly than the client requires (RFC 9470 §5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService
from tests.token_exchange.exchanging import exchange

pytestmark = pytest.mark.rfc("9470#5", "8693#2.2")

TYPES = pytest.mark.parametrize("requested", ["access_token", "jwt", "refresh_token", "id_token"])


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`web` requires a second factor, `frontend` the password."""
    config["authentication_contexts"] = [
        {"acr": "password", "amr": ["pwd"]},
        {"acr": "strong", "amr": ["pwd", "otp"]},
    ]
    client_in(config, "web")["required_acr"] = "strong"
    client_in(config, "frontend")["required_acr"] = "password"
    return config


async def exchange_weak(service: RunningService, requested: str, client: str) -> Answer:
    """Exchange the token of a user that gave the password only."""
    token = (await service.user_token())["access_token"]
    return await exchange(service, token, client, requested_token_type=requested)


@TYPES
async def test_a_weaker_authentication_is_refused_for_each_type_of_token(
    service: RunningService, requested: str
) -> None:
    assert (await exchange_weak(service, requested, "web")).refusal == (400, "invalid_grant")


@TYPES
async def test_an_authentication_as_strong_as_required_is_enough(
    service: RunningService, requested: str
) -> None:
    assert (await exchange_weak(service, requested, "frontend")).status == 200
