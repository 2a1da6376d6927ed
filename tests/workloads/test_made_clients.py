"""Clients that a rule makes get more than tokens for themselves, and some workloads get no client (RFC 7523 §3, RFC 7591 §2)."""

from __future__ import annotations

from typing import Any

import pytest

from service.clients.workloads import rules as workload_rules
from tests.conftest import Start
from tests.driving.registering import register
from tests.driving.registry import client_in
from tests.token_exchange.exchanging import EXCHANGE, TYPE
from tests.workloads.conftest import workload_client
from tests.workloads.platform import Platform, Workload, pod

ALICE = {"username": "alice", "password": "alice-password"}


@pytest.mark.rfc("7591#2")
async def test_workload_cannot_be_registered(start: Start, config: dict[str, Any]) -> None:
    config["registration"] = {"enabled": True, "allowed_scopes": ["openid", "api1"]}
    service = await start(config)
    answer = await register(service, token_endpoint_auth_method="workload")
    assert answer.refusal == (400, "invalid_client_metadata")
    assert "token_endpoint_auth_method" in answer["error_description"]


@pytest.mark.usefixtures("one_store")
async def test_a_rule_makes_no_client_of_the_registry(
    start: Start, config: dict[str, Any], platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workload_rules, "can_make", lambda *_, **__: False)  # `check` finds nothing
    config["clients"].append(workload_client("shop.taken", client_secrets=[{"sha256": "0" * 64}]))
    service = await start(config)
    assert (await pod(service, platform, "shop", "free").ask(scope="api1")).status == 200
    refused = await pod(service, platform, "shop", "taken").ask(scope="api1")
    assert refused.refusal == (401, "invalid_client")


@pytest.mark.rfc("6749#6")
async def test_refresh_tokens_of_a_made_client_end_with_its_rule(
    start: Start, config: dict[str, Any], platform: Platform
) -> None:
    grants = ["password", "refresh_token"]
    client_in(config, "shop-workload").update(
        allowed_grant_types=grants, allow_offline_access=True, refresh_token_usage="reuse"
    )
    service = await start(config)
    cart, stranger = (pod(service, platform, "shop", name) for name in ("cart", "stranger"))
    asked = await cart.ask(grant_type="password", scope="api1 offline_access", **ALICE)

    async def refresh(workload: Workload) -> Any:
        sent = {"grant_type": "refresh_token", "refresh_token": asked["refresh_token"]}
        return await workload.ask(**sent)

    refreshed = await refresh(cart)
    assert await service.is_active(refreshed["access_token"])
    assert (await refresh(stranger)).refusal == (400, "invalid_grant")
    # From now on the pod is another client.
    config["workload_issuers"][0]["rules"][1] = {
        "subject": "system:serviceaccount:shop:cart",
        "client_id": "deployer",
    }
    client_in(config, "deployer")["allowed_grant_types"] = grants
    service.reload(config)
    assert (await refresh(cart)).refusal == (400, "invalid_grant")
    assert not await service.is_active(refreshed["access_token"])


@pytest.mark.rfc("8693#2.1")
async def test_a_rule_of_token_exchange_names_a_made_client(
    start: Start, config: dict[str, Any], platform: Platform
) -> None:
    client_in(config, "shop-workload")["allowed_grant_types"] = [EXCHANGE]
    config["token_exchange"] = [
        {
            "clients": ["shop.cart"],
            "subject_audience": ["api1"],
            "scopes": ["orders"],
            "audiences": ["orders"],
        }
    ]
    service = await start(config)
    token = (await service.user_token(scope="api1"))["access_token"]
    asked = {"grant_type": EXCHANGE, "scope": "orders", "subject_token": token}
    asked["subject_token_type"] = TYPE + "access_token"
    cart, stranger = (pod(service, platform, "shop", name) for name in ("cart", "stranger"))
    shown = {"token": (await cart.ask(**asked))["access_token"], **cart.credentials()}
    told = (await service.post("/connect/introspect", **shown)).json
    assert (told["client_id"], told["sub"]) == ("shop.cart", "818727")
    refused = await stranger.ask(**asked)
    assert refused["error_description"] == "no rule of token_exchange allows this exchange"
