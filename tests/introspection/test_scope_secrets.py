"""An API scope asks about tokens by its name and a secret of its own, and learns of itself alone (RFC 7662 §2)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.tokens import TokenIntrospected
from tests.driving.registry import client_in, hashed
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("7662#2.1", "7662#2.2")

INACTIVE = {"active": False}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """api1.read asks alone; api1 is a resource and a scope, each with a secret; web is a client, too."""
    config["api_scopes"] = [
        {
            "name": "api1.read",
            "secrets": [{"sha256": hashed("api1.read")}],
            "user_claims": ["given_name"],
        },
        {"name": "api1", "secrets": [{"sha256": hashed("scope")}]},
        {"name": "web", "secrets": [{"sha256": hashed("scope")}]},
        {"name": "api2", "description": "has no secret"},
    ]
    config["api_resources"][1]["user_claims"] = ["name"]
    config["api_resources"].append({"name": "web"})
    return config


async def asked(service: RunningService, token: str, name: str, secret: str) -> dict[str, Any]:
    """Introspect as this caller."""
    answer = await service.post("/connect/introspect", auth=(name, secret), token=token)
    assert answer.status == 200
    return answer.json


@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_a_scope_gets_its_own_scope_value_only(
    service: RunningService, config: dict[str, Any], client: str
) -> None:
    config["clients"][8]["allowed_scopes"].append("api1.read")
    service.reload(config)
    token = (await service.user_token(client, "openid profile api1 api1.read api2"))["access_token"]
    told = await asked(service, token, "api1.read", "api1.read-secret")
    assert (told["active"], told["scope"], told["sub"]) == (True, "api1.read", "818727")
    assert told["given_name"] == "Alice"
    assert told.keys().isdisjoint({"name", "email"})


async def test_a_scope_does_not_get_the_claims_of_its_resource(service: RunningService) -> None:
    token = (await service.user_token(scope="api1.read"))["access_token"]
    told = await asked(service, token, "api1.read", "api1.read-secret")
    assert (told["given_name"], "email" in told) == ("Alice", False)


@pytest.mark.parametrize("caller", ["orders", "api1"])
async def test_a_caller_does_not_get_the_claims_of_a_scope_that_no_resource_has(
    service: RunningService, config: dict[str, Any], caller: str
) -> None:
    secret = {"secrets": [{"sha256": hashed("orders")}]}
    config["api_scopes"] += [
        {"name": "orders"} | secret,
        {"name": "bills", "user_claims": ["name"]},
    ]
    client_in(config, "frontend")["allowed_scopes"] += ["orders", "bills"]
    service.reload(config)
    token = (await service.user_token(scope=f"{caller} bills"))["access_token"]
    assert claims_in(token)["name"] == "Alice Smith"
    told = await asked(service, token, caller, f"{caller}-secret")
    assert (told["active"], "name" in told) == (True, False)


async def test_a_token_without_the_scope_is_inactive(service: RunningService) -> None:
    token = (await service.user_token(scope="api1 api2"))["access_token"]
    assert await asked(service, token, "api1.read", "api1.read-secret") == INACTIVE


async def test_a_refresh_token_is_inactive_for_a_scope(service: RunningService) -> None:
    token = (await service.user_token(scope="api1.read offline_access"))["refresh_token"]
    assert await asked(service, token, "api1.read", "api1.read-secret") == INACTIVE


@pytest.mark.parametrize(
    ("secret", "scope"), [("api1-secret", "api1 api1.read"), ("scope-secret", "api1")]
)
async def test_the_secret_distinguishes_a_resource_from_a_scope_of_its_name(
    service: RunningService, secret: str, scope: str
) -> None:
    token = (await service.user_token(scope="api1 api1.read"))["access_token"]
    assert (await asked(service, token, "api1", secret))["scope"] == scope


async def test_the_secret_distinguishes_a_client_from_a_scope_of_its_name(
    service: RunningService,
) -> None:
    token = (await service.user_token(scope="api1"))["access_token"]
    assert await asked(service, token, "web", "scope-secret") == INACTIVE
    assert await asked(service, token, "web", "web-secret") == INACTIVE


@pytest.mark.parametrize(
    ("name", "secret"),
    [("api1.read", "api1-secret"), ("api2", ""), ("api1.read", ""), ("openid", "openid-secret")],
)
async def test_a_wrong_secret_is_refused(service: RunningService, name: str, secret: str) -> None:
    answer = await service.post("/connect/introspect", auth=(name, secret), token="x")
    assert answer.refusal == (401, "invalid_client")
    assert answer.headers["WWW-Authenticate"].startswith("Basic ")


async def test_a_scopes_secret_authenticates_at_introspection_only(service: RunningService) -> None:
    credentials = ("api1.read", "api1.read-secret")
    answer = await service.token(credentials, grant_type="client_credentials")
    assert answer.refusal == (401, "invalid_client")


async def test_a_signed_answer_is_for_the_scope(service: RunningService) -> None:
    headers = {"Accept": "application/token-introspection+jwt"}
    credentials = ("api1.read", "api1.read-secret")
    answer = await service.post("/connect/introspect", auth=credentials, headers=headers, token="x")
    assert answer.headers["Content-Type"] == headers["Accept"]


async def test_the_log_names_the_caller(service: RunningService, events: list[object]) -> None:
    await asked(service, "x", "api1.read", "api1.read-secret")
    assert TokenIntrospected(caller="api1.read", active=False) in events


async def test_a_removed_secret_is_refused(service: RunningService, config: dict[str, Any]) -> None:
    await asked(service, "x", "api1.read", "api1.read-secret")
    config["api_scopes"][0]["secrets"] = []
    service.reload(config)
    credentials = ("api1.read", "api1.read-secret")
    answer = await service.post("/connect/introspect", auth=credentials, token="x")
    assert answer.refusal == (401, "invalid_client")
