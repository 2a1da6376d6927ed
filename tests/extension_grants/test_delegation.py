"""A user's token becomes one that carries the user to the next API (RFC 8693 §4.1)."""

from __future__ import annotations

from functools import partial
from typing import Any

import pytest

from tests.conftest import Clock
from tests.driving.client_app import ClientApp
from tests.driving.registry import add_client, client_in
from tests.driving.service import Answer, RunningService, claims_in

pytestmark = pytest.mark.rfc("8693#4.1")

NO_USERS_TOKEN = "token is not an active access token of a user"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """api1 and api2 delegate to each other for ever, `quick` for a minute, `opaque-api` in references."""
    config["extension_grants"].append(
        {
            "handler": "service.grants.delegation:DelegationGrant",
            "options": {"source_scopes": ["api1"]},
        }
    )
    usual = client_in(config, "api1")
    usual["allowed_scopes"] = ["api1", "api2", "api1.read"]
    usual["allow_offline_access"] = True

    add = partial(add_client, config, usual)

    add("api2")
    add("quick", api_resource="api1", access_token_lifetime="1m")
    add("opaque-api", api_resource="api1", access_token_type="reference")
    client_in(config, "gateway")["allowed_scopes"] = ["api1", "api2"]
    return config


async def delegate(
    service: RunningService, token: str | None, client: str = "api1", scope: str = "api2"
) -> Answer:
    """Exchange a token."""
    return await service.token(client, grant_type="delegation", token=token, scope=scope)


@pytest.fixture
async def token(service: RunningService) -> str:
    """A token of alice's for api1."""
    return str((await service.user_token())["access_token"])


async def test_the_user_goes_on_and_the_client_acts(service: RunningService, token: str) -> None:
    answer = await delegate(service, token)
    assert answer.json.keys() == {"access_token", "token_type", "expires_in", "scope"}
    claims, before = claims_in(answer["access_token"]), claims_in(token)
    assert (claims["sub"], claims["client_id"], claims["aud"]) == ("818727", "api1", "api2")
    assert (claims["scope"], answer["scope"]) == ("api2", "api2")
    assert claims["amr"] == ["delegation"]
    assert claims["act"] == {"sub": "api1"}
    assert "acr" not in claims
    assert (claims["auth_time"], claims["idp"]) == (before["auth_time"], before["idp"])


async def test_auth_time_and_sid_are_the_sources(
    service: RunningService, app: ClientApp, clock: Clock
) -> None:
    source = (await app.tokens())["access_token"]
    clock.forward(minutes=3)
    claims = claims_in((await delegate(service, source))["access_token"])
    for name in ("auth_time", "sid", "idp", "exp"):
        assert claims[name] == claims_in(source)[name]


async def test_the_next_api_accepts_the_new_token_and_not_the_first(
    service: RunningService, token: str
) -> None:
    new = (await delegate(service, token))["access_token"]
    assert await service.is_active(new, caller="api2")
    assert not await service.is_active(token, caller="api2")
    assert not await service.is_active(new, caller="api1")


@pytest.mark.parametrize("source", ["frontend", "opaque"])
@pytest.mark.parametrize("client", ["api1", "opaque-api"])
async def test_jwt_and_reference_go_in_and_come_out(
    service: RunningService, source: str, client: str
) -> None:
    first = (await service.user_token(source))["access_token"]
    second = (await delegate(service, first, client))["access_token"]
    assert second.startswith("at_") is (client == "opaque-api")
    told = await service.introspect(second, caller="api2")
    assert (told["sub"], told["act"]) == ("818727", {"sub": client})


@pytest.mark.parametrize("scope", ["", "unknown", "email", "offline_access", "api2 offline_access"])
async def test_scope_has_to_be_asked_for_and_allowed(
    service: RunningService, token: str, scope: str
) -> None:
    assert (await delegate(service, token, scope=scope)).refusal == (400, "invalid_scope")


@pytest.mark.parametrize("missing", [None, ""])
async def test_token_has_to_be_there(service: RunningService, missing: str | None) -> None:
    assert (await delegate(service, missing)).refusal == (400, "invalid_grant")


async def test_delegation_of_an_inactive_token_is_refused(
    service: RunningService, app: ClientApp, token: str
) -> None:
    for text in await app.no_access_tokens(token):
        refused = await delegate(service, text)
        assert refused.refusal == (400, "invalid_grant")
        assert refused["error_description"] == NO_USERS_TOKEN


async def test_a_token_without_a_user_is_refused(service: RunningService) -> None:
    for client in ("machine", "robot"):
        answer = await service.token(client, grant_type="client_credentials", scope="api1")
        refused = await delegate(service, answer["access_token"])
        assert refused.refusal == (400, "invalid_grant")
        assert refused["error_description"] == NO_USERS_TOKEN


async def test_an_api_exchanges_only_what_is_addressed_to_it(service: RunningService) -> None:
    foreign = (await service.user_token(scope="api2"))["access_token"]
    for client in ("api1", "quick", "opaque-api"):
        assert (await delegate(service, foreign, client)).refusal == (400, "invalid_grant")
    assert (await delegate(service, foreign, "api2")).status == 200


async def test_a_client_that_is_no_api_needs_a_source_scope(service: RunningService) -> None:
    good = (await service.user_token(scope="api1"))["access_token"]
    bad = (await service.user_token(scope="api2"))["access_token"]
    assert (await delegate(service, good, "gateway")).status == 200
    assert (await delegate(service, bad, "gateway")).refusal == (400, "invalid_grant")


async def test_any_token_can_be_delegated_without_source_scopes(
    service: RunningService, config: dict[str, Any]
) -> None:
    bad = (await service.user_token(scope="api2"))["access_token"]
    config["extension_grants"].pop()
    service.reload(config)
    assert (await delegate(service, bad, "gateway")).status == 200


async def test_actors_nest_and_the_sixth_is_refused(service: RunningService, token: str) -> None:
    callers = ["api1", "api2", "api1", "api2", "api1"]
    for caller in callers:
        scope = "api2" if caller == "api1" else "api1"
        token = (await delegate(service, token, caller, scope))["access_token"]
    act, actors = claims_in(token)["act"], []
    while act:
        actors.append(act["sub"])
        act = act.get("act")
    assert actors == callers[::-1]
    assert (await delegate(service, token, "api2", "api1")).refusal == (400, "invalid_grant")


async def test_delegated_token_never_outlives_its_source(
    service: RunningService, clock: Clock
) -> None:
    source = (await service.user_token())["access_token"]
    clock.forward(minutes=50)
    answer = await delegate(service, source)
    assert claims_in(answer["access_token"])["exp"] == claims_in(source)["exp"]
    assert answer["expires_in"] <= 600
    clock.forward(minutes=11)
    assert not await service.is_active(answer["access_token"], caller="api2")
    assert (await delegate(service, source)).refusal == (400, "invalid_grant")


async def test_delegated_token_may_be_shorter_than_its_source(
    service: RunningService, token: str
) -> None:
    assert (await delegate(service, token, "quick"))["expires_in"] == 60


@pytest.mark.rfc("7009#2.1")
@pytest.mark.parametrize("source", ["frontend", "opaque"])
@pytest.mark.parametrize("client", ["api1", "opaque-api"])
async def test_delegated_token_ends_with_its_source(
    service: RunningService, source: str, client: str
) -> None:
    first = (await service.user_token(source))["access_token"]
    second = (await delegate(service, first, client))["access_token"]
    third = (await delegate(service, second, "api2", "api1"))["access_token"]
    await service.post("/connect/revocation", auth=source, token=first)
    assert not await service.is_active(second, caller="api2")
    assert not await service.is_active(third)
    assert (await delegate(service, first, client)).refusal == (400, "invalid_grant")
    assert (await delegate(service, second, "api2", "api1")).refusal == (400, "invalid_grant")


@pytest.mark.rfc("7009#2.1")
async def test_tokens_below_two_delegated_tokens_end_with_the_source_of_both(
    service: RunningService, token: str
) -> None:
    delegated = [(await delegate(service, token, by))["access_token"] for by in ("api1", "quick")]
    below = [(await delegate(service, one, "api2", "api1"))["access_token"] for one in delegated]
    assert [await service.is_active(one) for one in below] == [True, True]
    await service.post("/connect/revocation", auth="frontend", token=token)
    assert [await service.is_active(one) for one in below] == [False, False]


@pytest.mark.rfc("7009#2.1")
@pytest.mark.parametrize("client", ["api1", "opaque-api"])
async def test_revoking_it_leaves_its_source_alone(
    service: RunningService, token: str, client: str
) -> None:
    first, second = [(await delegate(service, token, client))["access_token"] for _ in range(2)]
    await service.post("/connect/revocation", auth=client, token=first)
    assert not await service.is_active(first, caller="api2")
    assert await service.is_active(second, caller="api2")
    assert await service.is_active(token)


async def test_delegated_token_ends_with_the_authorization(service: RunningService) -> None:
    tokens = await service.user_token(scope="api1 offline_access")
    new = (await delegate(service, tokens["access_token"]))["access_token"]
    await service.post("/connect/revocation", auth="frontend", token=tokens["refresh_token"])
    assert not await service.is_active(new, caller="api2")


async def test_delegated_token_ends_with_the_session(
    service: RunningService, app: ClientApp
) -> None:
    tokens = await app.tokens()
    new = (await delegate(service, tokens["access_token"]))["access_token"]
    assert await service.is_active(new, caller="api2")
    await app.browser.get(f"/connect/endsession?id_token_hint={tokens['id_token']}")
    assert not await service.is_active(new, caller="api2")


async def test_a_disabled_user_is_not_delegated(
    service: RunningService, token: str, config: dict[str, Any]
) -> None:
    new = (await delegate(service, token))["access_token"]
    config["users"]["list"][0]["enabled"] = False
    service.reload(config)
    assert (await delegate(service, token)).refusal == (400, "invalid_grant")
    assert not await service.is_active(new, caller="api2")


@pytest.mark.parametrize("first", ["frontend", "opaque"])
@pytest.mark.parametrize("disabled", ["first", "api1", "api2"])
async def test_delegated_token_is_inactive_while_a_client_before_is_disabled(
    service: RunningService, config: dict[str, Any], first: str, disabled: str
) -> None:
    source = (await service.user_token(first))["access_token"]
    second = (await delegate(service, source, "api1", "api2"))["access_token"]
    third = (await delegate(service, second, "api2", "api1"))["access_token"]
    client = client_in(config, first if disabled == "first" else disabled)
    for enabled in (False, True):
        client["enabled"] = enabled
        service.reload(config)
        assert await service.is_active(third) is enabled


@pytest.mark.parametrize("removed", ["frontend", "quick", "api2"])
async def test_delegated_token_is_inactive_when_a_client_before_is_removed(
    service: RunningService, config: dict[str, Any], token: str, removed: str
) -> None:
    second = (await delegate(service, token, "quick", "api2"))["access_token"]
    third = (await delegate(service, second, "api2", "api1"))["access_token"]
    assert await service.is_active(third)
    config["clients"].remove(client_in(config, removed))
    service.reload(config)
    assert not await service.is_active(third)


async def test_delegated_token_is_inactive_when_its_source_has_no_scope_left(
    service: RunningService, config: dict[str, Any], token: str
) -> None:
    new = (await delegate(service, token))["access_token"]
    client_in(config, "frontend")["allowed_scopes"] = ["api2"]
    service.reload(config)
    assert not await service.is_active(new, caller="api2")


@pytest.mark.rfc("8707#2.2")
async def test_a_resource_may_be_named(service: RunningService, token: str) -> None:
    form = {"grant_type": "delegation", "token": token, "resource": "api2"}
    answer = await service.token("api1", scope="api1 api2", **form)
    assert (answer["scope"], claims_in(answer["access_token"])["aud"]) == ("api2", "api2")
    assert (await service.token("api1", scope="api1", **form)).refusal == (400, "invalid_target")
