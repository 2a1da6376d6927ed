"""Introspection tells a caller whether a token is active, and its claims (RFC 7662)"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService, claims_in

pytestmark = pytest.mark.rfc("7662#2")

INACTIVE = {"active": False}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """api1 wants the user's address, api2 the name; api1.read asks for a claim of its own."""
    config["api_resources"][1]["user_claims"] = ["name", "given_name"]
    config["api_scopes"] = [{"name": "api1.read", "user_claims": ["given_name"]}]
    return config


def told(answer: Answer) -> dict[str, Any]:
    """Return the answer for a caller, which is always a 200."""
    assert answer.status == 200
    return answer.json


@pytest.mark.rfc("7662#2.2", "9470#6.2")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_jwt_and_reference_token_have_the_same_answer(
    service: RunningService, client: str
) -> None:
    token = (await service.user_token(client))["access_token"]
    answer = told(await service.introspect(token))
    times = {name: answer.pop(name) for name in ("iat", "nbf", "exp", "auth_time")}
    assert len(answer.pop("jti")) > 16
    assert times["exp"] - times["iat"] == 3600
    assert answer == {
        "active": True,
        "iss": service.issuer,
        "aud": "api1",
        "sub": "818727",
        "client_id": client,
        "scope": "api1",
        "token_type": "Bearer",
        "amr": ["pwd"],
        "acr": "password",
        "idp": "local",
        "email": "alice@example.com",
    }


@pytest.mark.rfc("7662#2.2")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_scope_and_claims_are_limited_to_the_caller(
    service: RunningService, client: str
) -> None:
    token = (await service.user_token(client, scope="openid profile api1 api2"))["access_token"]
    one = told(await service.introspect(token, caller="api1"))
    two = told(await service.introspect(token, caller="api2"))
    assert (one["scope"], two["scope"]) == ("api1", "api2")
    assert (one["email"], two["name"]) == ("alice@example.com", "Alice Smith")
    assert one.keys().isdisjoint({"name", "given_name"})
    assert "email" not in two


async def test_a_resource_gets_the_claims_of_its_own_scope(service: RunningService) -> None:
    token = (await service.user_token(scope="api1.read api2"))["access_token"]
    one = told(await service.introspect(token, caller="api1"))
    assert (one["scope"], one["given_name"]) == ("api1.read", "Alice")
    assert "name" not in one


@pytest.mark.rfc("7662#4")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_a_token_for_others_is_inactive(service: RunningService, client: str) -> None:
    token = (await service.user_token(client, scope="api1"))["access_token"]
    assert told(await service.introspect(token, caller="api2")) == INACTIVE


async def test_a_token_for_this_service_alone_is_inactive_for_apis(app: ClientApp) -> None:
    tokens = await app.tokens(scope="openid email")
    assert told(await app.service.introspect(tokens["access_token"])) == INACTIVE


async def test_anything_but_an_access_token_is_inactive(
    app: ClientApp, service: RunningService
) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    header, payload, signature = tokens["access_token"].split(".")
    for text in (
        tokens["id_token"],
        tokens["refresh_token"],
        await app.code(),
        f"{header}.{payload}.{signature[:-4]}AAAA",
        f"{header}.{payload}.",
        f"{header}.{payload}",
        f"{header}.{payload}é.{signature}",
        "nonsense",
        "a.b.c",
        "é",
        "x" * 60000,
        f"{header}.{payload}.{'A' * 51200}",
    ):
        assert told(await service.introspect(text)) == INACTIVE


@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_a_token_expires_by_itself(
    service: RunningService, clock: Clock, client: str
) -> None:
    token = (await service.user_token(client))["access_token"]
    clock.forward(seconds=3590)
    assert await service.is_active(token)
    clock.forward(seconds=11)
    assert told(await service.introspect(token)) == INACTIVE


@pytest.mark.rfc("7519#4.1.4", "7662#2.2")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_an_access_token_expires_although_its_grant_goes_on(
    service: RunningService, clock: Clock, client: str
) -> None:
    tokens = await service.user_token(client, "api1 offline_access")
    clock.forward(seconds=3700)
    assert told(await service.introspect(tokens["access_token"])) == INACTIVE
    assert await service.is_active(tokens["refresh_token"], caller=client)


@pytest.mark.rfc("7519#4.1.4", "7662#2.2")
@pytest.mark.parametrize("client", ["machine", "robot"])
async def test_a_clients_own_token_expires(
    service: RunningService, clock: Clock, client: str
) -> None:
    token = (await service.token(client, grant_type="client_credentials"))["access_token"]
    assert await service.is_active(token)
    clock.forward(seconds=3700)
    assert told(await service.introspect(token)) == INACTIVE


@pytest.mark.rfc("7519#4.1.4", "7662#2.2")
@pytest.mark.parametrize("client", ["machine", "robot"])
async def test_token_is_inactive_from_the_second_of_its_exp_on(
    service: RunningService, clock: Clock, client: str
) -> None:
    second = int(time.time()) + 1
    clock.traveller.move_to(second + 0.5)  # Redis keeps a record for whole seconds from here on
    answer = await service.token(client, grant_type="client_credentials")
    clock.traveller.move_to(second + int(answer["expires_in"]) + 0.2)
    assert told(await service.introspect(answer["access_token"])) == INACTIVE


@pytest.mark.parametrize("client", ["frontend", "opaque"])
@pytest.mark.parametrize("what", ["client", "user"])
async def test_tokens_of_a_disabled_or_removed_user_or_client_are_inactive(
    service: RunningService, config: dict[str, Any], client: str, what: str
) -> None:
    token = (await service.user_token(client))["access_token"]
    one = client_in(config, client) if what == "client" else config["users"]["list"][0]
    service.reload(config | {})
    one["enabled"] = False
    service.reload(config)
    assert told(await service.introspect(token)) == INACTIVE
    one["enabled"] = True
    service.reload(config)
    assert await service.is_active(token)
    if what == "client":
        config["clients"].remove(one)
    else:
        config["users"]["list"].remove(one)
    service.reload(config)
    assert told(await service.introspect(token)) == INACTIVE


@pytest.mark.parametrize("client", ["machine", "robot"])
async def test_the_answer_about_a_clients_own_token_has_no_user(
    service: RunningService, client: str
) -> None:
    answer = await service.token(client, grant_type="client_credentials", scope="api1")
    one = told(await service.introspect(answer["access_token"]))
    assert (one["sub"], one["client_id"], one["scope"]) == (client, client, "api1")


@pytest.mark.rfc("7662#2.1")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_a_client_gets_all_claims_of_its_own_tokens(
    service: RunningService, client: str
) -> None:
    tokens = await service.user_token(client, scope="openid api1 api2 offline_access")
    access = told(await service.introspect(tokens["access_token"], caller=client))
    assert access["scope"] == "api1 api2 offline_access openid"
    assert access["name"] == "Alice Smith"
    refresh = told(await service.introspect(tokens["refresh_token"], caller=client))
    assert refresh["active"] is True
    assert (refresh["sub"], refresh["client_id"]) == ("818727", client)
    assert refresh["scope"] == "api1 api2 offline_access openid"


async def test_other_clients_tokens_are_inactive_for_a_client(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    for name in ("access_token", "refresh_token"):
        assert told(await service.introspect(tokens[name], caller="machine")) == INACTIVE


async def test_a_client_introspects_tokens_for_the_api_that_it_runs(
    service: RunningService,
) -> None:
    tokens = await service.user_token(scope="api1 api2")
    credentials: dict[str, Any] = {"client_id": "api1", "client_secret": "api1-secret"}
    as_client = await service.post(
        "/connect/introspect", token=tokens["access_token"], **credentials
    )
    assert told(as_client) == told(await service.introspect(tokens["access_token"], caller="api1"))
    other = await service.user_token(scope="api2")
    refused = await service.post("/connect/introspect", token=other["access_token"], **credentials)
    assert told(refused) == INACTIVE


async def test_a_refresh_token_is_inactive_for_a_resource(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    assert told(await service.introspect(tokens["refresh_token"])) == INACTIVE


async def test_a_spent_refresh_token_is_inactive(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    form = {"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"]}
    new = await service.token("frontend", **form)
    old = await service.introspect(tokens["refresh_token"], caller="frontend")
    assert told(old) == INACTIVE
    assert await service.is_active(new["refresh_token"], caller="frontend")


@pytest.mark.rfc("7662#2.1")
@pytest.mark.parametrize("hint", ["access_token", "refresh_token", "nonsense", ""])
async def test_a_wrong_token_type_hint_changes_nothing(service: RunningService, hint: str) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    for name in ("access_token", "refresh_token"):
        answer = await service.introspect(tokens[name], caller="frontend", token_type_hint=hint)
        assert told(answer)["active"] is True


@pytest.mark.rfc("7662#2.3")
@pytest.mark.parametrize(
    "auth", [None, ("api1", "wrong"), ("nobody", "x"), ("api1", ""), ("spa", "")], ids=str
)
async def test_an_unknown_caller_is_challenged(service: RunningService, auth: Any) -> None:
    answer = await service.post("/connect/introspect", auth=auth, token="x")
    assert answer.refusal == (401, "invalid_client")
    assert answer.headers["WWW-Authenticate"].startswith('Basic realm="')


@pytest.mark.rfc("7662#4")
async def test_a_public_client_cannot_introspect(service: RunningService) -> None:
    answer = await service.post("/connect/introspect", client_id="spa", token="x")
    assert answer.refusal == (401, "invalid_client")
    assert "WWW-Authenticate" in answer.headers


async def test_a_client_may_authenticate_in_the_body(service: RunningService) -> None:
    answer = await service.post(
        "/connect/introspect", client_id="machine", client_secret="machine-secret", token="x"
    )
    assert told(answer) == INACTIVE


async def test_a_resource_has_precedence_over_a_client_of_its_name(
    service: RunningService, config: dict[str, Any]
) -> None:
    token = (await service.user_token(scope="api1"))["access_token"]
    own = await service.token("api1", grant_type="delegation", token=token, scope="api2")
    assert told(await service.introspect(own["access_token"], caller="api1")) == INACTIVE
    config["api_resources"][0]["secrets"] = config["api_resources"][1]["secrets"]
    service.reload(config)
    assert await service.is_active(own["access_token"], caller="api1")
    with_the_resources = await service.post(
        "/connect/introspect", auth=("api1", "api2-secret"), token=token
    )
    assert told(with_the_resources)["active"] is True


@pytest.mark.rfc("7662#2.3")
@pytest.mark.parametrize("form", [{}, {"token": ""}], ids=["none", "empty"])
async def test_a_missing_token_is_refused(service: RunningService, form: dict[str, Any]) -> None:
    answer = await service.post("/connect/introspect", auth="api1", **form)
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("7662#4")
async def test_answers_must_not_be_cached(service: RunningService) -> None:
    answer = await service.introspect("x")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_no_other_origin_may_read_the_answer(service: RunningService) -> None:
    origin = {"Origin": "https://web.example"}
    answer = await service.post("/connect/introspect", auth="api1", headers=origin, token="x")
    assert "Access-Control-Allow-Origin" not in answer.headers


async def test_a_resource_gets_the_claims_of_the_token(
    app_of: Callable[[str], ClientApp], service: RunningService
) -> None:
    tokens = await app_of("web").tokens()
    one = told(await service.introspect(tokens["access_token"]))
    assert one["sid"] == claims_in(tokens["id_token"])["sid"]


@pytest.mark.rfc("7662#2.2")
@pytest.mark.parametrize("client", ["frontend", "opaque"])
async def test_an_api_that_may_see_the_user_name_gets_it_as_username(
    service: RunningService, config: dict[str, Any], client: str
) -> None:
    before = (await service.user_token(client))["access_token"]
    assert "username" not in told(await service.introspect(before))
    config["users"]["list"][0]["claims"]["preferred_username"] = "ali"
    config["api_resources"][0]["user_claims"] = ["preferred_username"]
    service.reload(config)
    token = (await service.user_token(client))["access_token"]
    answer = told(await service.introspect(token))
    assert (answer["username"], answer["preferred_username"]) == ("ali", "ali")


@pytest.mark.rfc("7662#5")
async def test_an_api_that_may_not_see_the_user_name_gets_none(
    service: RunningService, config: dict[str, Any]
) -> None:
    config["users"]["list"][0]["claims"]["preferred_username"] = "ali"
    config["api_resources"][1]["user_claims"] = ["preferred_username"]
    service.reload(config)
    token = (await service.user_token("frontend", "api1 api2"))["access_token"]
    assert "username" not in told(await service.introspect(token, caller="api1"))
    assert told(await service.introspect(token, caller="api2"))["username"] == "ali"
