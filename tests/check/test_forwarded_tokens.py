"""An API gets another token in place of the caller's (RFC 9068, draft-ietf-oauth-transaction-tokens)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.tokens import TransactionTokenIssued
from tests.conftest import Clock, Start
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in, header_of

pytestmark = pytest.mark.rfc("9068#2")

URL = "https://api1.example"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """api1 gets JWTs, and api2 transaction tokens; a user's name is for api1, and the address for api2."""
    config["server"] = {"trusted_proxies": ["127.0.0.1", "::1"]}
    api1, api2 = config["api_resources"][:2]
    api1 |= {"check": {"token": "jwt", "cache": "1m"}, "url": URL, "user_claims": ["name"]}
    api2 |= {"check": {"token": "txn_token"}, "scopes": ["api2", "pay"], "user_claims": ["email"]}
    config["trust_domains"] = [{"name": "shop.example", "scopes": ["pay", "refund"]}]
    for name in ("frontend", "opaque"):
        client_in(config, name)["allowed_scopes"] += ["api2", "pay", "api1.read"]
        client_in(config, name)["access_token_lifetime"] = "5m"
    client_in(config, "api1")["allowed_grant_types"] = ["delegation"]
    client_in(config, "api1")["allowed_scopes"] = ["api2"]
    return config


async def check(service: RunningService, token: str, path: str = "api1", **headers: str) -> Any:
    sent = {"Authorization": f"Bearer {token}", **headers}
    return await service.get(f"/connect/check/{path}", headers=sent)


async def forwarded(service: RunningService, token: str, **headers: str) -> str:
    """The JWT that api1 gets."""
    answer = await check(service, token, **headers)
    assert answer.headers["Cache-Control"] == "private, max-age=0"
    scheme, _, jwt = answer.headers["Authorization"].partition(" ")
    assert scheme == "Bearer"
    return str(jwt)


@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["jwt", "reference"])
async def test_the_jwt_tells_the_api_what_introspection_would(
    service: RunningService, client: str
) -> None:
    token = (await service.user_token(client, "openid api1 api1.read api2"))["access_token"]
    jwt = await forwarded(service, token)
    claims, told = claims_in(jwt), (await service.introspect(token)).json
    assert header_of(jwt)["typ"] == "at+jwt"
    assert 0 < claims["exp"] - claims["iat"] <= 60
    assert claims.pop("aud") == "api1"
    for name in ("exp", "iat", "nbf"):
        del claims[name], told[name]
    for name in ("active", "token_type", "aud"):
        del told[name]
    assert claims == told
    assert (claims["name"], claims["scope"]) == ("Alice Smith", "api1 api1.read")
    assert (await service.introspect(jwt))["active"] is True
    assert (await service.introspect(jwt, caller="api2")).json == {"active": False}


async def test_the_jwt_has_the_url_that_the_token_was_asked_for_by(service: RunningService) -> None:
    token = (await service.user_token(resource=URL))["access_token"]
    assert claims_in(await forwarded(service, token))["aud"] == URL


async def test_the_jwt_ends_with_the_token(service: RunningService, clock: Clock) -> None:
    token = (await service.user_token())["access_token"]
    clock.forward(seconds=270)
    assert claims_in(await forwarded(service, token))["exp"] == claims_in(token)["exp"]


async def test_the_jwt_of_a_bound_token_is_bound_to_no_key(service: RunningService) -> None:
    key = DpopKey(service.issuer)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    answer = await service.post("/connect/token", auth="machine", headers=key.header(), **form)
    token, url = answer["access_token"], f"{URL}/orders"
    proof = key.proof("", "GET", access_token=token, htu=url)
    bound = {"Authorization": f"DPoP {token}", "DPoP": proof, "X-Original-URL": url}
    jwt = await forwarded(service, token, **bound)
    assert "cnf" in claims_in(token)
    assert "cnf" not in claims_in(jwt)


@pytest.mark.rfc("7009#2.1")
@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["jwt", "reference"])
async def test_the_api_goes_on_with_the_jwt_until_the_token_is_revoked(
    service: RunningService, client: str
) -> None:
    token = (await service.user_token(client))["access_token"]
    jwt = await forwarded(service, token)

    async def delegate() -> Any:
        return await service.token("api1", grant_type="delegation", token=jwt, scope="api2")

    assert (await delegate()).status == 200
    await service.post("/connect/revocation", auth=client, token=token)
    assert (await delegate()).refusal == (400, "invalid_grant")
    assert not await service.is_active(jwt)


@pytest.mark.rfc("7009#2.1")
async def test_the_jwt_of_a_client_for_itself_ends_when_its_token_is_revoked(
    config: dict[str, Any], start: Start
) -> None:
    client_in(config, "machine")["access_token_type"] = "reference"
    service = await start(config)
    form = {"grant_type": "client_credentials", "scope": "api1"}
    token = (await service.token("machine", **form))["access_token"]
    jwt = await forwarded(service, token)
    assert await service.is_active(jwt)
    await service.post("/connect/revocation", auth="machine", token=token)
    assert not await service.is_active(jwt)


async def test_a_refused_request_carries_no_token(service: RunningService) -> None:
    answer = await check(service, "nonsense")
    assert (answer.status, "Authorization" in answer.headers) == (401, False)


async def test_the_transaction_token_is_for_the_purpose_that_the_check_names(
    service: RunningService,
) -> None:
    token = (await service.user_token(scope="openid api2 pay"))["access_token"]
    for path in ("api2", "api2?scope=pay"):
        answer = await check(service, token, path)
        assert answer.headers["Cache-Control"] == "private, max-age=0"
        assert "Authorization" not in answer.headers
        text = answer.headers["Txn-Token"]
        claims = claims_in(text)
        assert header_of(text)["typ"] == "txntoken+jwt"
        assert (claims["aud"], claims["sub"]) == ("shop.example", "818727")
        assert (claims["scope"], claims["req_wl"]) == ("pay", "api2")
        assert claims["exp"] - claims["iat"] <= 30
    issued = [each for each in service.events if isinstance(each, TransactionTokenIssued)]
    assert [each.client_id for each in issued] == ["api2", "api2"]


async def test_the_transaction_token_is_for_the_trust_domain_that_the_api_names(
    config: dict[str, Any], start: Start
) -> None:
    config["trust_domains"].append({"name": "bank.example", "scopes": ["pay"]})
    config["api_resources"][1]["check"]["trust_domain"] = "shop.example"
    service = await start(config)
    token = (await service.user_token(scope="openid api2 pay"))["access_token"]
    answer = await check(service, token, "api2")
    assert claims_in(answer.headers["Txn-Token"])["aud"] == "shop.example"


async def test_a_token_without_a_purpose_of_the_trust_domain_is_not_enough(
    service: RunningService,
) -> None:
    token = (await service.user_token(scope="api2"))["access_token"]
    answer = await check(service, token, "api2")
    assert answer.refusal == (403, "insufficient_scope")
    assert 'error="insufficient_scope"' in answer.headers["WWW-Authenticate"]
    assert ', scope="pay"' in answer.headers["WWW-Authenticate"]
    assert "Txn-Token" not in answer.headers
