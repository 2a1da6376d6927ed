"""No token is made of one that is for the admin API, whoever sends it (RFC 8693 §5, RFC 9700 §2.3)."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from service.protocol.token_types import GRANT_TYPE as EXCHANGE
from service.protocol.token_types import JWT_BEARER
from tests.admin.conftest import OPERATOR_SCOPES, operator, token_of
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService
from tests.jwt_bearer.foreign import partner_entry

pytestmark = [pytest.mark.rfc("8693#5", "9700#2.3"), pytest.mark.usefixtures("one_store")]

TYPES = "urn:ietf:params:oauth:token-type"
SHOP = "https://shop.example"
SUBJECT = "subject_token"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """A gateway without an API resource, which may use every grant that makes one token of another."""
    grants = ["delegation", EXCHANGE, JWT_BEARER]
    config["clients"].append(operator("carrier", "api1", "api2", allowed_grant_types=grants))
    rule = {"clients": ["carrier"], "scopes": ["api1"], "audiences": ["api1"]}
    config["token_exchange"] = [
        rule | {"subject_audience": ["api1"], "actor": actor} for actor in ("none", "required")
    ]
    config["trust_domains"] = [{"name": SHOP, "clients": ["carrier"], "scopes": ["checkout"]}]
    config["trusted_issuers"] = [partner_entry()]
    return config


async def delegate(service: RunningService, token: str) -> Answer:
    return await service.token("carrier", grant_type="delegation", token=token, scope="api1")


async def exchange(service: RunningService, token: str, **form: str) -> Answer:
    usual = {SUBJECT: token, f"{SUBJECT}_type": f"{TYPES}:access_token", "scope": "api1"}
    return await service.token("carrier", grant_type=EXCHANGE, **usual | form)


async def exchange_as_a_jwt(service: RunningService, token: str) -> Answer:
    return await exchange(service, token, **{f"{SUBJECT}_type": f"{TYPES}:jwt"})


async def act_by_it(service: RunningService, token: str) -> Answer:
    user = str((await service.user_token())["access_token"])
    acting = {"actor_token": token, "actor_token_type": f"{TYPES}:access_token"}
    return await exchange(service, user, **acting)


async def begin_a_transaction(service: RunningService, token: str) -> Answer:
    form = {"requested_token_type": f"{TYPES}:txn_token", "audience": SHOP, "scope": "checkout"}
    return await exchange(service, token, **form)


async def assert_it(service: RunningService, token: str) -> Answer:
    form = {"grant_type": JWT_BEARER, "assertion": token, "scope": "api1"}
    return await service.token("carrier", **form)


async def check_it(service: RunningService, token: str) -> Answer:
    gateway = b64encode(b"api1:api1-secret").decode()
    sent = {"Authorization": f"Bearer {token}", "X-Check-Authorization": f"Basic {gateway}"}
    return await service.get("/connect/check/api1", headers=sent)


Attempt = Callable[[RunningService, str], Awaitable[Answer]]
WAYS: dict[str, tuple[Attempt, tuple[int, str | None]]] = {
    "delegation": (delegate, (400, "invalid_grant")),
    "exchange": (exchange, (400, "invalid_request")),
    "exchange as a JWT": (exchange_as_a_jwt, (400, "invalid_request")),
    "exchange as the actor": (act_by_it, (400, "invalid_request")),
    "transaction token": (begin_a_transaction, (400, "invalid_request")),
    "JWT bearer": (assert_it, (400, "invalid_grant")),
    "gateway check": (check_it, (401, "invalid_token")),
}


@pytest.mark.parametrize("name", WAYS)
async def test_token_of_an_operator_is_no_source_for(
    service: RunningService, app_of: Callable[[str], ClientApp], name: str
) -> None:
    attempt, refusal = WAYS[name]
    token = str((await app_of("desk").tokens(scope=f"openid {OPERATOR_SCOPES}"))["access_token"])
    assert (await service.admin("GET", "/admin/keys", token)).status == 200
    assert (await attempt(service, token)).refusal == refusal


@pytest.mark.parametrize("name", ["delegation", "exchange as the actor", "transaction token"])
async def test_token_of_a_client_for_itself_is_no_source_for(
    service: RunningService, name: str
) -> None:
    attempt, refusal = WAYS[name]
    assert (await attempt(service, await token_of(service, "operations"))).refusal == refusal


async def test_token_for_an_api_as_well_is_no_source(
    service: RunningService, app_of: Callable[[str], ClientApp]
) -> None:
    both = {"scope": f"openid {OPERATOR_SCOPES} api1"}
    token = str((await app_of("desk").tokens(**both))["access_token"])
    assert (await delegate(service, token)).refusal == (400, "invalid_grant")


@pytest.mark.parametrize("name", ["delegation", "exchange", "transaction token"])
async def test_token_for_an_api_is_a_source_for(service: RunningService, name: str) -> None:
    token = str((await service.user_token())["access_token"])
    assert (await WAYS[name][0](service, token)).status == 200
