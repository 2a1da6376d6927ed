"""A client acts for itself (RFC 6749 §4.4)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("6749#4.4")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """The machine has claims of its own, some of them impostors, and a reader that asks for more."""
    client_in(config, "machine")["claims"] = {"tier": "gold", "region": "eu"}
    posing = {"sub": "818727", "exp": 9999999999, "scope": "admin", "aud": "x", "act": {}, "ok": 1}
    client_in(config, "robot").update(claims=posing, client_claims_prefix="")
    machine = client_in(config, "machine")
    config["clients"].append(
        machine | {"client_id": "greedy", "allowed_scopes": ["openid", "api1"]}
    )
    client_in(config, "greedy")["allow_offline_access"] = True
    return config


@pytest.mark.rfc("6749#4.4.3")
@pytest.mark.parametrize("client", ["machine", "robot"])
async def test_a_client_gets_an_access_token_and_nothing_else(
    service: RunningService, client: str
) -> None:
    answer = await service.token(client, grant_type="client_credentials", scope="api1")
    assert answer.json.keys() == {"access_token", "token_type", "expires_in", "scope"}


@pytest.mark.rfc("9068#2.2")
async def test_the_subject_is_the_client(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials")
    claims = claims_in(answer["access_token"])
    assert claims["sub"] == claims["client_id"] == "machine"
    assert claims["aud"] == ["api1", "api2"]
    assert claims["scope"] == "api1 api2"
    assert claims.keys().isdisjoint({"auth_time", "amr", "acr", "idp", "sid", "act"})


async def test_the_clients_own_claims_have_a_prefix(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials")
    claims = claims_in(answer["access_token"])
    assert (claims["client_tier"], claims["client_region"]) == ("gold", "eu")


async def test_a_clients_claim_cannot_pose_as_the_protocols(service: RunningService) -> None:
    answer = await service.token("robot", grant_type="client_credentials", scope="api1")
    told = await service.introspect(answer["access_token"])
    assert (told["sub"], told["scope"], told["aud"], told["ok"]) == ("robot", "api1", "api1", 1)
    assert "act" not in told.json


@pytest.mark.parametrize("scope", ["openid", "offline_access api1", "api1 openid"])
async def test_a_scope_that_needs_a_user_is_refused(service: RunningService, scope: str) -> None:
    answer = await service.token(
        ("greedy", "machine-secret"), grant_type="client_credentials", scope=scope
    )
    assert answer.refusal == (400, "invalid_scope")


async def test_the_default_leaves_out_what_needs_a_user(service: RunningService) -> None:
    answer = await service.token(("greedy", "machine-secret"), grant_type="client_credentials")
    assert answer["scope"] == "api1"


@pytest.mark.rfc("6749#3.3")
async def test_a_request_without_scope_of_a_client_without_api_scope_is_refused(
    service: RunningService, config: dict[str, Any]
) -> None:
    client_in(config, "greedy")["allowed_scopes"] = ["openid"]
    service.reload(config)
    answer = await service.token(("greedy", "machine-secret"), grant_type="client_credentials")
    assert answer.refusal == (400, "invalid_scope")


@pytest.mark.rfc("6749#3.3")
@pytest.mark.parametrize("scope", [" ", 'api1 "', "api1\tapi2"])
async def test_the_refusal_of_a_scope_says_that_its_form_is_wrong(
    service: RunningService, scope: str
) -> None:
    answer = await service.token("machine", grant_type="client_credentials", scope=scope)
    assert answer.refusal == (400, "invalid_scope")
    assert answer["error_description"].startswith("scope is not a list of scope values")
