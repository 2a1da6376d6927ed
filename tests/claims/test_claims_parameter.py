"""Claims that a client asks for one by one (OIDC Core §5.5)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.store.verbs import Read
from tests.claims.conftest import PROFILE, Told, claims_request, told_of
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("openid-core#5.5", "openid-core#5.5.1")

HOWEVER = pytest.mark.parametrize(
    "how",
    [
        None,
        {},
        {"essential": True},
        {"essential": False},
        {"value": "Alice Smith"},
        {"value": "Somebody Else"},
        {"values": ["Somebody", "Else"], "essential": True},
        {"essential": True, "purpose": "a member that nobody knows"},
    ],
    ids=["null", "empty", "essential", "voluntary", "value", "other", "values", "unknown"],
)


@HOWEVER
async def test_claim_asked_for_in_the_id_token_is_in_it(in_id_token: Told, how: object) -> None:
    told = await in_id_token(scope="openid", claims=claims_request(id_token={"name": how}))
    assert told == {"name": "Alice Smith"}


@HOWEVER
async def test_claim_asked_for_at_userinfo_is_answered_there(
    at_userinfo: Told, how: object
) -> None:
    told = await at_userinfo(scope="openid", claims=claims_request(userinfo={"name": how}))
    assert told == {"name": "Alice Smith"}


async def test_each_place_tells_what_was_asked_for_there(
    in_id_token: Told, at_userinfo: Told
) -> None:
    claims = claims_request(id_token={"email": None}, userinfo={"nickname": None})
    assert await in_id_token(scope="openid", claims=claims) == {"email": "alice@example.com"}
    assert await at_userinfo(scope="openid", claims=claims) == {"nickname": "Al"}


async def test_claims_asked_for_are_added_to_those_of_the_scope(at_userinfo: Told) -> None:
    told = await at_userinfo(
        scope="openid profile", claims=claims_request(userinfo={"email": None})
    )
    assert told == PROFILE | {"email": "alice@example.com"}


@pytest.mark.parametrize(
    "response_type", ["id_token", "id_token token", "code id_token", "code id_token token"]
)
async def test_every_identity_token_carries_them(
    app_of: Callable[[str], ClientApp], response_type: str
) -> None:
    page = await app_of("implicit").login(
        response_type=response_type, scope="openid", claims=claims_request(id_token={"email": None})
    )
    told = told_of(claims_in(page.parameters["id_token"]))
    assert told == {"email": "alice@example.com"}


async def test_an_identity_token_alone_carries_those_of_the_scope_too(
    app_of: Callable[[str], ClientApp],
) -> None:
    page = await app_of("implicit").login(
        response_type="id_token",
        scope="openid email",
        claims=claims_request(id_token={"nickname": None}),
    )
    told = told_of(claims_in(page.parameters["id_token"]))
    assert told == {"email": "alice@example.com", "email_verified": True, "nickname": "Al"}


async def test_a_refresh_tells_them_again(app: ClientApp, service: RunningService) -> None:
    claims = claims_request(id_token={"email": None}, userinfo={"nickname": None})
    first = await app.tokens(scope="openid api1 offline_access", claims=claims)
    again = await app.refresh(first["refresh_token"])
    headers = {"Authorization": f"Bearer {again['access_token']}"}
    assert claims_in(again["id_token"])["email"] == "alice@example.com"
    assert (await service.get("/connect/userinfo", headers=headers))["nickname"] == "Al"


async def test_a_delegated_token_tells_nothing_that_its_own_client_did_not_ask_for(
    app: ClientApp, service: RunningService, config: dict[str, Any]
) -> None:
    client_in(config, "api1")["allowed_scopes"] += ["openid", "email"]
    service.reload(config)
    tokens = await app.tokens(claims=claims_request(userinfo={"email": None}))
    form = {"grant_type": "delegation", "token": tokens["access_token"], "scope": "openid api2"}
    delegated = await service.token("api1", **form)
    headers = {"Authorization": f"Bearer {delegated['access_token']}"}
    assert told_of((await service.get("/connect/userinfo", headers=headers)).json) == {}


@pytest.mark.parametrize(
    "name", ["shoe_size", "email", "sub", "exp", "iss", "auth_time", "no#!", ""]
)
async def test_claim_that_the_client_may_not_ask_for_is_left_out(
    app_of: Callable[[str], ClientApp], service: RunningService, name: str
) -> None:
    wish = {name: {"essential": True}}
    tokens = await app_of("spa").tokens(
        scope="openid", claims=claims_request(id_token=wish, userinfo=wish)
    )
    assert told_of(claims_in(tokens["id_token"])) == {}
    headers = {"Authorization": f"Bearer {tokens['access_token']}"}
    assert (await service.get("/connect/userinfo", headers=headers)).json == {"sub": "818727"}


async def test_an_edited_registration_counts_at_once(
    app: ClientApp, service: RunningService, config: dict[str, Any]
) -> None:
    token = (await app.tokens(claims=claims_request(userinfo={"email": None})))["access_token"]
    client_in(config, "web")["allowed_scopes"] = ["openid", "api1"]
    service.reload(config)
    headers = {"Authorization": f"Bearer {token}"}
    assert (await service.get("/connect/userinfo", headers=headers)).json == {"sub": "818727"}


async def test_claim_that_the_user_does_not_have_is_left_out(app: ClientApp) -> None:
    claims = claims_request(userinfo={"family_name": {"essential": True}})
    token = (await app.tokens("bob", scope="openid", claims=claims))["access_token"]
    headers = {"Authorization": f"Bearer {token}"}
    answer = await app.service.get("/connect/userinfo", headers=headers)
    assert answer.json == {"sub": "88421113"}


async def test_auth_time_is_there_in_any_case(app: ClientApp) -> None:
    tokens = await app.tokens(claims=claims_request(id_token={"auth_time": {"essential": True}}))
    assert isinstance(claims_in(tokens["id_token"])["auth_time"], int)


@pytest.mark.parametrize(
    "claims", ["{}", '{"id_token": null, "userinfo": null}', '{"verified": [1], "id_token": {}}']
)
async def test_claims_parameter_without_claims_changes_nothing(
    in_id_token: Told, claims: str
) -> None:
    assert await in_id_token(scope="openid", claims=claims) == {}


@pytest.mark.parametrize(
    ("claims", "description"),
    [
        ("name", "claims is not JSON"),
        ("[" * 20000, "claims is not JSON"),
        ('"name"', "claims is not an object"),
        ("null", "claims is not an object"),
        ('{"userinfo": {"a": {}, "a": null}}', "claims has a member more than once"),
        ('{"userinfo": {"a": {"value": "\\ud800"}}}', "claims is not JSON"),
        (
            '{"userinfo": {"a": {"value": 0.1000000000000000055}}}',
            "claims has a number that JSON does not carry exactly",
        ),
        (
            '{"a":' + "[" * 900 + "]" * 900 + "}",
            "claims is nested more than 32 levels deep",
        ),
        ('{"userinfo": []}', "claims.userinfo is not an object"),
        ('{"id_token": "name"}', "claims.id_token is not an object"),
        ('{"userinfo": {"name": true}}', "claims.userinfo.name is not an object or null"),
        (
            '{"userinfo": {"<b>": 1}}',
            "claims.userinfo.(a claim) is not an object or null",
        ),
        (
            '{"id_token": {"name": {"essential": "yes"}}}',
            "claims.id_token.name.essential is neither true nor false",
        ),
        (
            '{"userinfo": {"name#de": {"values": "x"}}}',
            "claims.userinfo.name#de.values is not an array",
        ),
        (
            '{"id_token": {"sub": {"value": 818727}}}',
            "claims.id_token.sub is asked for with a value that is not a string",
        ),
        (
            '{"id_token": {"acr": {"values": [1]}}}',
            "claims.id_token.acr is asked for with a value that is not a string",
        ),
    ],
    ids=lambda text: text[:40],
)
async def test_malformed_claims_parameter_is_refused_with_its_place(
    app: ClientApp, claims: str, description: str
) -> None:
    page = await app.authorize(claims=claims)
    assert page.error == "invalid_request"
    assert page.parameters["error_description"] == description


async def test_userinfo_cannot_be_asked_for_without_an_access_token(
    app_of: Callable[[str], ClientApp],
) -> None:
    page = await app_of("implicit").authorize(
        response_type="id_token", scope="openid", claims=claims_request(userinfo={"name": None})
    )
    assert page.error == "invalid_request"


async def test_claims_parameter_without_openid_is_ignored(app: ClientApp) -> None:
    tokens = await app.tokens(scope="api1", claims=claims_request(id_token={"email": None}))
    assert tokens.status == 200
    assert "id_token" not in tokens.json


async def test_an_authorization_without_any_is_as_small_as_before(
    app: ClientApp, service: RunningService
) -> None:
    await app.code()
    (key,) = [key async for key in service.features.shared.kv.find_keys("ts:*:az")]
    (record,) = await service.features.shared.kv.read(Read(key, bytes))
    assert b"claims" not in (record or b"claims")
