"""JWT access tokens of the type JWT, for APIs that accept no other (RFC 9068 §2.1, RFC 8725 §3.12)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in, header_of

pytestmark = pytest.mark.rfc("9068#2.1", "8725#3.12")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Two clients whose APIs accept no other type; one API has the name of its client."""
    for name in ("web", "frontend", "machine"):
        client_in(config, name)["access_token_typ"] = "JWT"
    config["api_resources"].append({"name": "web", "scopes": ["of-web"], "secrets": []})
    client_in(config, "web")["allowed_scopes"].append("of-web")
    client_in(config, "web")["userinfo_signed_response_alg"] = "ES256"
    return config


async def test_the_header_says_jwt_and_the_claim_bearer(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    assert (header_of(token)["typ"], claims_in(token)["typ"]) == ("JWT", "Bearer")
    assert claims_in(token)["client_id"] == "frontend"


async def test_other_clients_have_the_type_of_rfc_9068(service: RunningService) -> None:
    token = (await service.token("robot", grant_type="client_credentials"))["access_token"]
    assert token.startswith("at_")
    other = (await service.user_token("api1", scope="api1")).status
    assert other == 400


async def test_such_a_token_is_active_until_it_is_revoked(service: RunningService) -> None:
    form = {"grant_type": "client_credentials", "scope": "api1"}
    token = (await service.token("machine", **form))["access_token"]
    assert (await service.introspect(token))["typ"] == "Bearer"
    await service.post("/connect/revocation", auth="machine", token=token)
    assert not await service.is_active(token)


async def test_userinfo_takes_such_a_token(app: ClientApp, service: RunningService) -> None:
    token = (await app.tokens())["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    assert (await service.get("/connect/userinfo", headers=headers)).status == 200


async def test_an_access_token_of_the_type_jwt_is_no_hint(app: ClientApp) -> None:
    token = (await app.tokens(scope="openid of-web"))["access_token"]
    assert claims_in(token)["aud"] == "web"
    page = await app.authorize(id_token_hint=token)
    assert (page.status, page.error) == (303, "invalid_request")


async def test_other_jwts_of_that_type_are_no_access_tokens(
    app: ClientApp, service: RunningService
) -> None:
    tokens = await app.tokens()
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    userinfo = (await service.get("/connect/userinfo", headers=headers)).body.decode()
    for other in (tokens["id_token"], userinfo):
        assert header_of(other)["typ"] == "JWT"
        assert (await service.introspect(other)).json == {"active": False}
