"""A token becomes another one, by the first rule that fits (RFC 8693 §2)."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from service.events.tokens import TokenExchangeJudged
from tests.conftest import Clock, Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.token_exchange.exchanging import EXCHANGE, TYPE, exchange

pytestmark = pytest.mark.rfc("8693#2.1", "8693#2.2")


def withdraw(config: dict[str, Any], client: dict[str, Any], lost: str) -> None:
    """Take from a client what its tokens by password need."""
    if lost == "client":
        config["clients"].remove(client)
        config["token_exchange"][3]["clients"].remove(client["client_id"])
    elif lost == "enabled":
        client["enabled"] = False
    elif lost == "grant type":
        client["allowed_grant_types"].remove("password")
    else:
        client["allowed_scopes"] = ["openid"]


@pytest.fixture
async def token(service: RunningService) -> str:
    """A token of alice's for api1."""
    return str((await service.user_token())["access_token"])


@pytest.mark.rfc("8693#2.2.1", "8693#4.1")
async def test_user_goes_on_and_the_client_acts(service: RunningService, token: str) -> None:
    answer = await exchange(service, token)
    assert answer.json.keys() == {
        *("access_token", "issued_token_type", "token_type", "expires_in", "scope")
    }
    assert (answer["issued_token_type"], answer["token_type"]) == (TYPE + "access_token", "Bearer")
    claims, before = claims_in(answer["access_token"]), claims_in(token)
    assert (claims["sub"], claims["client_id"], claims["aud"]) == ("818727", "api1", "api2")
    assert (claims["scope"], answer["scope"]) == ("api2", "api2")
    assert claims["act"] == {"sub": "api1"}
    for name in ("auth_time", "idp"):
        assert claims[name] == before[name]


async def test_the_next_api_accepts_the_new_token_and_not_the_first(
    service: RunningService, token: str
) -> None:
    new = (await exchange(service, token))["access_token"]
    assert await service.is_active(new, caller="api2")
    assert not await service.is_active(new, caller="api1")


@pytest.mark.parametrize("client", ["api1", "opaque-api"])
@pytest.mark.parametrize("source", ["frontend", "opaque"])
@pytest.mark.parametrize("requested", [None, "access_token", "jwt"])
async def test_reference_and_jwt_go_in_and_what_was_asked_for_comes_out(
    service: RunningService, source: str, client: str, requested: str | None
) -> None:
    first = (await service.user_token(source))["access_token"]
    answer = await exchange(service, first, client, requested_token_type=requested)
    assert answer["issued_token_type"] == TYPE + (requested or "access_token")
    is_reference = client == "opaque-api" and requested != "jwt"
    assert answer["access_token"].startswith("at_") is is_reference
    seen = await service.introspect(answer["access_token"], caller="api2")
    assert (seen["sub"], seen["act"]) == ("818727", {"sub": client})


async def test_a_jwt_of_this_service_is_a_subject_token_by_either_type(
    service: RunningService, token: str
) -> None:
    assert (await exchange(service, token, of_type="jwt")).status == 200


@pytest.mark.rfc("8693#4.1")
async def test_actors_nest_as_in_delegation(service: RunningService, token: str) -> None:
    second = (await exchange(service, token))["access_token"]
    third = (await exchange(service, second, "api2", scope="api1"))["access_token"]
    assert claims_in(third)["act"] == {"sub": "api2", "act": {"sub": "api1"}}
    delegated = await service.token("api1", grant_type="delegation", token=third, scope="api2")
    assert claims_in(delegated["access_token"])["act"]["act"]["sub"] == "api2"


async def test_more_actors_than_max_depth_are_refused(service: RunningService, token: str) -> None:
    clients = {"api1": "api2", "api2": "api1"}
    client = "api1"
    for _ in range(3):
        answer = await exchange(service, token, client, scope=clients[client])
        token, client = answer["access_token"], clients[client]
    refused = await exchange(service, token, client, scope=clients[client])
    assert refused.refusal == (400, "invalid_request")


async def test_impersonation_names_no_actor(service: RunningService, token: str) -> None:
    claims = claims_in((await exchange(service, token, "broker"))["access_token"])
    assert claims["sub"] == "818727"
    assert "act" not in claims


async def test_actor_token_of_a_client_names_the_actor(service: RunningService, token: str) -> None:
    actor = await service.token("machine", grant_type="client_credentials", scope="api1")
    sent = {"actor_token": actor["access_token"], "actor_token_type": "access_token"}
    new = (await exchange(service, token, "witness", **sent))["access_token"]
    assert claims_in(new)["act"] == {"sub": "machine"}
    assert await service.is_active(new, caller="api2")


async def test_actor_token_of_a_user_names_the_actor(
    service: RunningService, token: str, app: ClientApp
) -> None:
    bobs = (await app.tokens("bob"))["id_token"]
    sent = {"actor_token": bobs, "actor_token_type": "id_token"}
    new = (await exchange(service, token, **sent))["access_token"]
    assert claims_in(new)["act"] == {"sub": "88421113"}
    assert await service.is_active(new, caller="api2")


async def test_new_token_is_bound_to_the_callers_key_and_not_to_the_sources(
    service: RunningService,
) -> None:
    first, second = DpopKey(service.issuer), DpopKey(service.issuer)
    source = await service.user_token(headers=first.header())
    answer = await exchange(service, source["access_token"], headers=second.header())
    assert answer["token_type"] == "DPoP"
    assert claims_in(answer["access_token"])["cnf"] == {"jkt": second.thumbprint}


@pytest.mark.parametrize("name", ["audience", "resource"])
async def test_audience_and_resource_choose_the_api(
    service: RunningService, token: str, name: str
) -> None:
    asked: dict[str, Any] = {"scope": "api1 api2", name: "api2"}
    answer = await exchange(service, token, **asked)
    assert (claims_in(answer["access_token"])["aud"], answer["scope"]) == ("api2", "api2")


async def test_several_audiences_may_be_asked_for(service: RunningService, token: str) -> None:
    answer = await exchange(service, token, scope="api1 api2", audience=["api2", "api1"])
    assert claims_in(answer["access_token"])["aud"] == ["api1", "api2"]


async def test_of_the_apis_that_understand_a_scope_the_rule_names_the_audience(
    service: RunningService, config: dict[str, Any], token: str
) -> None:
    config["api_resources"].append({"name": "api3", "scopes": ["api2"]})
    service.reload(config)
    answer = await exchange(service, token, "broker")
    assert claims_in(answer["access_token"])["aud"] == "api2"


@pytest.mark.rfc("8707#2")
async def test_a_scope_that_no_audience_of_the_rule_understands_is_refused(
    service: RunningService, config: dict[str, Any], token: str
) -> None:
    config["token_exchange"][0]["scopes"].append("api1")
    service.reload(config)
    answer = await exchange(service, token, "broker", scope="api1")
    assert answer.refusal == (400, "invalid_target")
    assert (await exchange(service, token, "broker", scope="api1 api2")).status == 200


async def test_a_token_for_no_api_has_no_api_as_its_audience(
    service: RunningService, token: str
) -> None:
    answer = await exchange(service, token, scope="openid")
    assert answer["scope"] == "openid"
    assert claims_in(answer["access_token"])["aud"] == service.issuer


async def test_without_scope_the_client_gets_what_the_rule_allows(
    service: RunningService, token: str
) -> None:
    assert (await exchange(service, token, "broker", scope=None))["scope"] == "api2"


async def test_a_refresh_token_of_ones_own_becomes_an_access_token(
    service: RunningService,
) -> None:
    own = await service.user_token(scope="api1 offline_access")
    refresh = own["refresh_token"]
    answer = await exchange(service, refresh, "frontend", of_type="refresh_token")
    assert claims_in(answer["access_token"])["act"] == {"sub": "frontend"}
    assert await service.is_active(answer["access_token"], caller="api2")
    await service.post("/connect/revocation", auth="frontend", token=refresh)
    assert not await service.is_active(answer["access_token"], caller="api2")


async def test_an_id_token_of_ones_own_becomes_an_access_token_of_its_session(
    service: RunningService, app: ClientApp
) -> None:
    id_token = (await app.tokens())["id_token"]
    answer = await exchange(service, id_token, "web", of_type="id_token")
    claims = claims_in(answer["access_token"])
    assert (claims["sub"], claims["sid"]) == ("818727", claims_in(id_token)["sid"])
    assert claims["exp"] <= claims_in(id_token)["exp"]
    assert await service.is_active(answer["access_token"], caller="api2")
    await app.browser.submit(await app.browser.get("/connect/endsession"))
    assert not await service.is_active(answer["access_token"], caller="api2")
    refused = await exchange(service, id_token, "web", of_type="id_token")
    assert refused.refusal == (400, "invalid_request")


async def test_a_token_made_of_an_id_token_ends_when_its_session_is_not_used(
    start: Start, config: dict[str, Any], clock: Clock
) -> None:
    config["session"] = {"lifetime": "10m"}
    client_in(config, "web")["identity_token_lifetime"] = "1h"
    service = await start(config)
    app = ClientApp(service, Browser(service.issuer))
    id_token = (await app.tokens())["id_token"]
    new = (await exchange(service, id_token, "web", of_type="id_token"))["access_token"]
    clock.forward(minutes=9)
    assert await service.is_active(new, caller="api2")
    clock.forward(minutes=2)
    assert not await service.is_active(new, caller="api2")
    await app.browser.close()


async def test_an_access_token_becomes_an_id_token(service: RunningService, app: ClientApp) -> None:
    source = (await app.tokens(scope="openid api1"))["access_token"]
    answer = await exchange(
        service, source, "web", requested_token_type="id_token", scope="openid profile"
    )
    assert (answer["token_type"], answer["issued_token_type"]) == ("N_A", TYPE + "id_token")
    claims = claims_in(answer["access_token"])
    assert (claims["aud"], claims["sub"], claims["name"]) == ("web", "818727", "Alice Smith")
    assert (claims["amr"], claims["act"]) == (["pwd"], {"sub": "web"})


async def test_an_id_token_lasts_as_long_as_the_response_says_though_a_second_passes(
    service: RunningService, app: ClientApp, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = await app.tokens(scope="openid api1")
    clock.forward(seconds=tokens["expires_in"] - 60)  # ends before the client's ID tokens would
    source = tokens["access_token"]
    monkeypatch.setattr("service.tokens.exchanged.clock", count(int(time.time())).__next__)
    answer = await exchange(service, source, "web", requested_token_type="id_token", scope="openid")
    claims = claims_in(answer["access_token"])
    assert claims["exp"] - claims["iat"] == answer["expires_in"]


@pytest.mark.rfc("9449#5")
@pytest.mark.parametrize("requested", ["access_token", "refresh_token"])
async def test_a_public_clients_bound_refresh_token_is_exchanged_with_its_key_only(
    service: RunningService, app_of: Callable[[str], ClientApp], requested: str
) -> None:
    own, other = DpopKey(service.issuer), DpopKey(service.issuer)
    spa = app_of("spa")
    code = await spa.code(scope="openid api1 offline_access")
    refresh = (await spa.redeem(code, headers=own.header()))["refresh_token"]
    asked: dict[str, Any] = {"of_type": "refresh_token", "requested_token_type": requested}
    asked |= {"client_id": "spa", "scope": "api1"}
    for headers in ({}, other.header()):
        refused = await exchange(service, refresh, None, headers=headers, **asked)
        assert refused.refusal == (400, "invalid_request")
    assert (await exchange(service, refresh, None, headers=own.header(), **asked)).status == 200


async def test_an_access_token_becomes_a_refresh_token_that_ends_with_it(
    service: RunningService,
) -> None:
    source = (await service.user_token())["access_token"]
    answer = await exchange(service, source, "frontend", requested_token_type="refresh_token")
    assert (answer["token_type"], answer["issued_token_type"]) == ("N_A", TYPE + "refresh_token")
    assert answer["expires_in"] <= 3600
    form = {"grant_type": "refresh_token", "refresh_token": answer["access_token"]}
    fresh = await service.token("frontend", **form)
    assert claims_in(fresh["access_token"])["exp"] <= claims_in(source)["exp"]
    assert await service.is_active(fresh["access_token"], caller="api2")
    await service.post("/connect/revocation", auth="frontend", token=source)
    assert not await service.is_active(fresh["access_token"], caller="api2")
    form["refresh_token"] = fresh["refresh_token"]
    assert (await service.token("frontend", **form)).refusal == (400, "invalid_grant")


@pytest.mark.rfc("6749#3.3", "8707#2.2")
async def test_a_refresh_token_has_only_what_its_audience_understands(
    service: RunningService,
) -> None:
    source = (await service.user_token())["access_token"]
    wanted = {"scope": "openid api1 api2", "audience": "api2"}
    kind = {"requested_token_type": "refresh_token"}
    answer = await exchange(service, source, "frontend", **kind, **wanted)
    assert answer["scope"] == "api2 offline_access openid"
    form = {"grant_type": "refresh_token", "refresh_token": answer["access_token"]}
    refused = await service.token("frontend", scope="api1", **form)
    assert refused.refusal == (400, "invalid_scope")
    assert (await service.token("frontend", **form)).status == 200


async def test_a_refresh_token_of_an_exchange_is_exchanged_for_no_further_one(
    service: RunningService,
) -> None:
    source = (await service.user_token())["access_token"]
    wanted = {"requested_token_type": "refresh_token"}
    first = (await exchange(service, source, "frontend", **wanted))["access_token"]
    again = await exchange(service, first, "frontend", of_type="refresh_token", **wanted)
    assert again.refusal == (400, "invalid_request")


async def test_new_token_lives_no_longer_than_its_source_or_the_clients_tokens(
    service: RunningService, clock: Clock
) -> None:
    source = (await service.user_token())["access_token"]
    clock.forward(minutes=50)
    made = (await exchange(service, source))["access_token"]
    assert claims_in(made)["exp"] == claims_in(source)["exp"]
    assert (await exchange(service, source, "quick"))["expires_in"] == 60


@pytest.mark.parametrize("source", ["frontend", "opaque"])
async def test_new_token_ends_with_its_source(service: RunningService, source: str) -> None:
    first = (await service.user_token(source))["access_token"]
    second = (await exchange(service, first))["access_token"]
    third = (await exchange(service, second, "api2", scope="api1"))["access_token"]
    await service.post("/connect/revocation", auth=source, token=first)
    assert not await service.is_active(second, caller="api2")
    assert not await service.is_active(third)


async def test_new_token_ends_when_its_client_loses_the_grant_type(
    service: RunningService, config: dict[str, Any], token: str
) -> None:
    new = (await exchange(service, token))["access_token"]
    client_in(config, "api1")["allowed_grant_types"].remove(EXCHANGE)
    service.reload(config)
    assert not await service.is_active(new, caller="api2")


@pytest.mark.rfc("8693#4.1", "7662#2.2")
async def test_token_of_a_client_that_exchanged_its_own_ends_when_it_loses_the_grant_type(
    service: RunningService, config: dict[str, Any], token: str
) -> None:
    """The client that the user granted access to is the actor as well; its first token goes on."""
    new = (await exchange(service, token, "frontend"))["access_token"]
    assert claims_in(new)["act"] == {"sub": "frontend"}
    assert await service.is_active(new, caller="api2")
    client_in(config, "frontend")["allowed_grant_types"].remove(EXCHANGE)
    service.reload(config)
    assert not await service.is_active(new, caller="api2")
    assert await service.is_active(token)


@pytest.mark.rfc("8693#1.1", "7662#2.2")
@pytest.mark.parametrize("caller", ["broker", "understudy"])
@pytest.mark.parametrize("gone", ["enabled", "grant type", "scope", "exchange"])
async def test_token_by_impersonation_ends_with_the_permission_of_either_client(
    service: RunningService, config: dict[str, Any], token: str, caller: str, gone: str
) -> None:
    new = (await exchange(service, token, caller))["access_token"]
    assert await service.is_active(new, caller="api2")
    if gone == "exchange":
        client_in(config, caller)["allowed_grant_types"].remove(EXCHANGE)
    else:
        withdraw(config, client_in(config, "frontend"), gone)
    service.reload(config)
    assert not await service.is_active(new, caller="api2")


@pytest.mark.parametrize("gone", ["actor", "caller", "first client"])
async def test_new_token_ends_with_each_party_that_it_came_by(
    service: RunningService, config: dict[str, Any], token: str, gone: str
) -> None:
    actor = await service.token("machine", grant_type="client_credentials", scope="api1")
    sent = {"actor_token": actor["access_token"], "actor_token_type": "access_token"}
    new = (await exchange(service, token, "witness", **sent))["access_token"]
    name = {"actor": "machine", "caller": "witness", "first client": "frontend"}[gone]
    client_in(config, name)["enabled"] = False
    service.reload(config)
    assert not await service.is_active(new, caller="api2")


async def test_new_token_ends_when_its_user_may_no_longer_use_the_client_that_acts(
    service: RunningService, config: dict[str, Any], token: str
) -> None:
    actor = await service.token("machine", grant_type="client_credentials", scope="api1")
    sent = {"actor_token": actor["access_token"], "actor_token_type": "access_token"}
    new = (await exchange(service, token, "witness", **sent))["access_token"]
    for allowed, is_active in (("818727", True), ("88421113", False)):
        client_in(config, "machine")["allowed_users"] = [{"sub": [allowed]}]
        service.reload(config)
        assert await service.is_active(new, caller="api2") is is_active


@pytest.mark.rfc("6749#6", "7662#2.2")
@pytest.mark.parametrize("lost", ["client", "enabled", "grant type", "scope"])
async def test_refresh_token_of_an_exchange_ends_when_the_first_client_loses_its_permission(
    service: RunningService, config: dict[str, Any], token: str, lost: str
) -> None:
    wanted = {"requested_token_type": "refresh_token"}
    form = {"refresh_token": (await exchange(service, token, "web", **wanted))["access_token"]}
    fresh = await service.token("web", grant_type="refresh_token", **form)
    form["refresh_token"] = fresh["refresh_token"]
    assert await service.is_active(fresh["refresh_token"], caller="web")
    withdraw(config, client_in(config, "frontend"), lost)
    service.reload(config)
    refused = await service.token("web", grant_type="refresh_token", **form)
    assert refused.refusal == (400, "invalid_grant")
    assert not await service.is_active(fresh["refresh_token"], caller="web")
    assert not await service.is_active(fresh["access_token"], caller="api2")


async def test_decision_is_in_the_audit_log_with_the_rules_place(
    service: RunningService, token: str
) -> None:
    await exchange(service, token)
    await exchange(service, token, scope="api1.read")
    await exchange(service, token, requested_token_type="id_token")
    judged = [event for event in service.events if isinstance(event, TokenExchangeJudged)]
    assert [event.allowed for event in judged] == [True, False, False]
    assert judged[0].rule == judged[1].rule
    assert judged[0].rule is not None
    assert judged[0].rule.rpartition(":")[2].isdecimal()
    assert (judged[0].subject, judged[0].actor) == ("818727", "api1")
    assert judged[2].rule is None


async def test_discovery_lists_the_grant_type(service: RunningService) -> None:
    document = (await service.get("/.well-known/openid-configuration")).json
    assert EXCHANGE in document["grant_types_supported"]
