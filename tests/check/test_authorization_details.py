"""A token that was granted authorization_details without a scope passes to the API that understands them (RFC 9396 §9)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.registry import fresh_configuration
from tests.driving.service import Answer, RunningService, claims_in
from tests.rich_requests.details import PAYMENT, add_types, encode

pytestmark = pytest.mark.rfc("9396#9")


@pytest.fixture
def config() -> dict[str, Any]:
    """A proxy on loopback; `payments` gets a JWT in place of the token."""
    config = add_types(fresh_configuration())
    config["server"] = {"trusted_proxies": ["127.0.0.1", "::1"]}
    config["api_resources"][-2]["check"] = {"token": "jwt"}
    return config


async def check(service: RunningService, client: str, path: str) -> Answer:
    """The answer for a token with a payment in place of a scope."""
    answer = await service.token(
        client, grant_type="client_credentials", authorization_details=encode(PAYMENT)
    )
    assert "scope" not in answer.json
    sent = {"Authorization": f"Bearer {answer['access_token']}"}
    return await service.get(f"/connect/check/{path}", headers=sent)


@pytest.mark.parametrize("client", ["machine", "robot"], ids=["jwt", "reference"])
async def test_its_api_gets_the_details(service: RunningService, client: str) -> None:
    answer = await check(service, client, "payments")
    assert (answer.status, answer.headers["X-Token-Scope"]) == (200, "")
    claims = claims_in(answer.headers["Authorization"].removeprefix("Bearer "))
    assert claims["authorization_details"] == [PAYMENT]
    assert "scope" not in claims


async def test_another_api_refuses_it(service: RunningService) -> None:
    for api in ("accounts", "api1"):
        assert (await check(service, "machine", api)).refusal == (401, "invalid_token")


async def test_a_scope_that_is_asked_for_is_missing(service: RunningService) -> None:
    answer = await check(service, "machine", "payments?scope=pay")
    assert answer.refusal == (403, "insufficient_scope")
