"""The claims of each scope, and their types (OIDC Core §5.1, §5.4)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest

from tests.claims.conftest import ALICE, BY_SCOPE, SUB, Told
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("openid-core#5.1", "openid-core#5.4")

PATH = "/connect/userinfo"


async def ask(service: RunningService, token: str, way: str) -> Answer:
    """Ask for the claims in one of the three ways (OIDC Core §5.3.1)."""
    header = {"Authorization": f"Bearer {token}"}
    if way == "get, header":
        return await service.get(PATH, headers=header)
    if way == "post, header":
        return await service.request("POST", PATH, headers=header)
    return await service.post(PATH, access_token=token)


@pytest.mark.parametrize("scope", BY_SCOPE)
async def test_a_scope_stands_for_its_claims(at_userinfo: Told, scope: str) -> None:
    assert await at_userinfo(scope=f"openid {scope}") == BY_SCOPE[scope]


@pytest.mark.rfc("openid-core#5.3.1")
@pytest.mark.parametrize("way", ["get, header", "post, header", "post, body"])
async def test_all_standard_claims_have_their_types(
    app: ClientApp, service: RunningService, way: str
) -> None:
    tokens = await app.tokens(scope="openid profile email address phone")
    answer = await ask(service, tokens["access_token"], way)
    assert (answer.status, answer.headers["Content-Type"].split(";")[0]) == (
        200,
        "application/json",
    )
    assert orjson.dumps(answer.json, option=orjson.OPT_SORT_KEYS) == orjson.dumps(
        ALICE | {"sub": SUB}, option=orjson.OPT_SORT_KEYS
    )


@pytest.mark.rfc("openid-core#5.3.2")
async def test_empty_claims_are_left_out_and_false_ones_are_not(
    at_userinfo: Told, service: RunningService, config: dict[str, Any]
) -> None:
    claims: dict[str, Any] = {
        "name": "",
        "nickname": None,
        "address": {},
        "email_verified": False,
        "updated_at": 0,
    }
    config["users"]["list"][0]["claims"] = claims
    service.reload(config)
    told = await at_userinfo(scope="openid profile email address")
    assert told == {"email_verified": False, "updated_at": 0}


@pytest.mark.rfc("openid-discovery#3")
async def test_discovery_says_which_there_are(service: RunningService) -> None:
    listed = (await service.get("/.well-known/openid-configuration")).json
    assert {*ALICE, "sub", "auth_time", "acr"} <= set(listed["claims_supported"])
    assert listed["claims_parameter_supported"] is True
    assert listed["claim_types_supported"] == ["normal"]
