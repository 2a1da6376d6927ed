"""Token exchange issues ID-JAGs for other authorization servers (draft-ietf-oauth-identity-assertion-authz-grant §4.3)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.tokens import TokenExchangeJudged
from service.protocol.token_types import ID_JAG_TYP
from tests.cli.conftest import command
from tests.cli.test_explain import explained
from tests.conftest import Clock, Start
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in, header_of
from tests.id_jag.issuing import MCP, OTHER, ask, target
from tests.token_exchange.exchanging import EXCHANGE, TYPE, exchange

__all__ = ["command"]

pytestmark = pytest.mark.rfc("8693#2.1", "8693#2.2", "8693#2.2.1")

INVALID = (400, "invalid_request")


async def test_an_id_token_becomes_an_id_jag(service: RunningService, tokens: Any) -> None:
    answer = await ask(service, tokens["id_token"])
    jag = answer.json.pop("access_token")
    assert answer.json | {"access_token": jag} == {
        "access_token": jag,
        "issued_token_type": TYPE + "id-jag",
        "token_type": "N_A",
        "expires_in": 300,
        "scope": "tools.read",
    }
    assert answer.headers["Cache-Control"] == "no-store"


async def test_an_id_jag_says_who_may_do_what_where(service: RunningService, tokens: Any) -> None:
    jag = (await ask(service, tokens["id_token"]))["access_token"]
    claims, signed_in = claims_in(jag), claims_in(tokens["id_token"])
    assert header_of(jag)["typ"] == ID_JAG_TYP
    assert claims.pop("exp") - claims.pop("iat") == 300
    assert len(claims.pop("jti")) >= 16
    assert claims == {
        "iss": service.issuer,
        "sub": "818727",
        "aud": OTHER,
        "client_id": "web-over-there",
        "resource": MCP,
        "scope": "tools.read",
        "auth_time": signed_in["auth_time"],
        "amr": ["pwd"],
        "acr": "password",
    }


async def test_a_refresh_token_becomes_an_id_jag(service: RunningService, tokens: Any) -> None:
    token = tokens["refresh_token"]
    for _ in range(2):
        answer = await ask(service, token, of_type="refresh_token")
        assert claims_in(answer["access_token"])["sub"] == "818727"
    assert (
        await service.token("web", grant_type="refresh_token", refresh_token=token)
    ).status == 200


async def test_an_id_jag_ends_with_the_refresh_token_that_it_is_issued_for(
    service: RunningService, config: dict[str, Any], app: ClientApp, clock: Clock
) -> None:
    client_in(config, "web")["absolute_refresh_token_lifetime"] = "1h"
    service.reload(config)
    tokens = await app.tokens(scope="openid api1 offline_access")
    clock.forward(minutes=59)
    answer = await ask(service, tokens["refresh_token"], of_type="refresh_token")
    assert 0 < answer["expires_in"] <= 60
    claims = claims_in(answer["access_token"])
    assert claims["exp"] - claims["iat"] == answer["expires_in"]


async def test_an_id_jag_lives_longer_than_the_id_token_that_it_is_issued_for(
    service: RunningService, tokens: Any, clock: Clock
) -> None:
    clock.forward(minutes=4)
    assert (await ask(service, tokens["id_token"]))["expires_in"] == 300


async def test_each_id_jag_has_an_id_of_its_own(service: RunningService, tokens: Any) -> None:
    found = [(await ask(service, tokens["id_token"]))["access_token"] for _ in range(2)]
    assert len({claims_in(jag)["jti"] for jag in found}) == 2


async def test_a_client_without_another_name_keeps_its_own(
    app_of: Any, service: RunningService, browser: Browser
) -> None:
    app: ClientApp = app_of("consenting")
    page = await browser.submit(await app.login(scope="openid"), action="allow")
    token = (await app.redeem(page.parameters["code"]))["id_token"]
    claims = claims_in((await ask(service, token, "consenting"))["access_token"])
    assert claims["client_id"] == "consenting"


async def test_without_scope_and_resource_all_of_the_target_is_granted(
    service: RunningService, tokens: Any
) -> None:
    answer = await ask(service, tokens["id_token"], scope=None, resource=None)
    claims = claims_in(answer["access_token"])
    assert claims["scope"] == answer["scope"] == "tools.read tools.write"
    assert claims["resource"] == [MCP, "https://files.other.example"]


@pytest.mark.rfc("3986#6.2.2", "3986#6.2.3")
async def test_a_resource_is_named_as_the_rule_spells_it(
    service: RunningService, tokens: Any
) -> None:
    resource = "https://FILES.other.example:443/"
    answer = await ask(service, tokens["id_token"], resource=resource)
    assert claims_in(answer["access_token"])["resource"] == "https://files.other.example"


@pytest.mark.rfc("3986#6.2.2", "8707#2")
async def test_resources_of_private_schemes_are_told_apart_by_their_hosts(
    service: RunningService, tokens: Any, config: dict[str, Any]
) -> None:
    resources = ["api://orders/v1", "api://invoices/v1"]
    config["token_exchange"][0] |= {"targets": [target(resources=resources)]}
    service.reload(config)
    answer = await ask(service, tokens["id_token"], resource="API://orders/%761")
    assert claims_in(answer["access_token"])["resource"] == resources[0]
    stranger = await ask(service, tokens["id_token"], resource="api://anybody/v1")
    assert stranger.refusal == (400, "invalid_target")


@pytest.mark.rfc("3986#6.2.2")
async def test_of_two_spellings_of_one_resource_each_is_named_as_it_was_asked_for(
    service: RunningService, tokens: Any, config: dict[str, Any]
) -> None:
    spellings = ["https://files.other.example/", "https://FILES.other.example"]
    config["token_exchange"][0] |= {"targets": [target(resources=spellings)]}
    service.reload(config)
    for resource in spellings:
        answer = await ask(service, tokens["id_token"], resource=resource)
        assert claims_in(answer["access_token"])["resource"] == resource


async def test_a_target_without_scopes_and_resources_gets_neither(
    service: RunningService, tokens: Any, config: dict[str, Any]
) -> None:
    config["token_exchange"][0] |= {"targets": [target(scopes=[], resources=[])]}
    service.reload(config)
    answer = await ask(service, tokens["id_token"], scope=None, resource=None)
    assert "scope" not in answer.json
    assert {"scope", "resource"}.isdisjoint(claims_in(answer["access_token"]))


REFUSED: dict[str, tuple[dict[str, Any], tuple[int, str]]] = {
    "no audience": ({"audience": None}, INVALID),
    "another audience": ({"audience": "https://nobody.example"}, (400, "invalid_target")),
    "two audiences": ({"audience": [OTHER, OTHER + "/"]}, (400, "invalid_target")),
    "a resource as audience": ({"audience": MCP}, (400, "invalid_target")),
    "an API of this service": ({"audience": "api1"}, (400, "invalid_target")),
    "a resource of nobody": ({"resource": "https://nobody.example"}, (400, "invalid_target")),
    "a resource too many": ({"resource": [MCP, "api1"]}, (400, "invalid_target")),
    "a scope of nobody": ({"scope": "tools.read tools.delete"}, (400, "invalid_scope")),
    "a scope of this service": ({"scope": "api1"}, (400, "invalid_scope")),
    "a malformed scope": ({"scope": 'a"b'}, (400, "invalid_scope")),
    "no token": ({"subject_token": None}, INVALID),
    "a token that is none": ({"subject_token": "x"}, INVALID),
    "the wrong type": ({"of_type": "refresh_token"}, INVALID),
    "a type that no rule allows": ({"of_type": "jwt"}, INVALID),
}


@pytest.mark.parametrize(("form", "refusal"), REFUSED.values(), ids=REFUSED.keys())
async def test_a_request_is_refused_with(
    service: RunningService, tokens: Any, form: dict[str, Any], refusal: tuple[int, str]
) -> None:
    assert (await ask(service, tokens["id_token"], **form)).refusal == refusal


async def test_an_access_token_becomes_no_id_jag(service: RunningService, tokens: Any) -> None:
    answer = await ask(service, tokens["access_token"], of_type="access_token")
    assert answer.refusal == INVALID


async def test_an_actor_token_is_refused(service: RunningService, tokens: Any) -> None:
    actor = {"actor_token": tokens["access_token"], "actor_token_type": "access_token"}
    assert (await ask(service, tokens["id_token"], **actor)).refusal == INVALID


async def test_an_id_token_of_another_client_is_refused(
    service: RunningService, tokens: Any
) -> None:
    assert (await ask(service, tokens["id_token"], "consenting")).refusal == INVALID


async def test_a_client_without_a_rule_is_refused(service: RunningService, tokens: Any) -> None:
    assert (await ask(service, tokens["id_token"], "implicit")).refusal == INVALID


async def test_a_client_that_does_not_authenticate_is_refused(app_of: Any) -> None:
    spa: ClientApp = app_of("spa")
    token = (await spa.tokens(scope="openid"))["id_token"]
    answer = await exchange(
        spa.service,
        token,
        None,
        of_type="id_token",
        requested_token_type=TYPE + "id-jag",
        audience=OTHER,
        scope="tools.read",
        client_id="spa",
    )
    assert answer.refusal == INVALID


async def test_an_id_jag_needs_a_rule_for_it(
    service: RunningService, tokens: Any, config: dict[str, Any]
) -> None:
    config["token_exchange"][0] |= {
        "requested_token_types": ["id_token"],
        "targets": [],
    }
    service.reload(config)
    assert (await ask(service, tokens["id_token"])).refusal == INVALID


async def test_no_id_jag_is_issued_after_the_logout(
    service: RunningService, tokens: Any, browser: Browser
) -> None:
    await browser.submit(await browser.get("/connect/endsession"))
    assert (await ask(service, tokens["id_token"])).refusal == INVALID


async def test_no_id_jag_is_issued_for_a_disabled_user(
    service: RunningService, tokens: Any, config: dict[str, Any]
) -> None:
    config["users"]["list"][0]["enabled"] = False
    service.reload(config)
    for of_type in ("id_token", "refresh_token"):
        assert (await ask(service, tokens[of_type], of_type=of_type)).refusal == INVALID


@pytest.mark.rfc("9470#5")
@pytest.mark.parametrize("of_type", ["id_token", "refresh_token"])
async def test_no_id_jag_is_issued_to_a_client_that_requires_a_stronger_sign_in(
    service: RunningService, tokens: Any, config: dict[str, Any], of_type: str
) -> None:
    config["authentication_contexts"] = [{"acr": "strong", "amr": ["pwd", "otp"]}]
    client_in(config, "web")["required_acr"] = "strong"
    service.reload(config)
    refused = await ask(service, tokens[of_type], of_type=of_type)
    assert refused.refusal == (400, "invalid_grant")


async def test_no_id_jag_is_issued_for_an_expired_id_token(
    service: RunningService, tokens: Any, clock: Clock
) -> None:
    clock.forward(minutes=6)
    assert (await ask(service, tokens["id_token"])).refusal == INVALID
    assert (await ask(service, tokens["refresh_token"], of_type="refresh_token")).status == 200


async def test_an_id_jag_opens_nothing_here(service: RunningService, tokens: Any) -> None:
    jag = (await ask(service, tokens["id_token"]))["access_token"]
    assert not await service.is_active(jag)
    bearer = {"Authorization": f"Bearer {jag}"}
    assert (await service.get("/connect/userinfo", headers=bearer)).status == 401
    assert (await ask(service, jag)).refusal == INVALID


@pytest.mark.rfc("9449#6.1")
async def test_a_proven_key_is_in_the_id_jag(service: RunningService, tokens: Any) -> None:
    key = DpopKey(service.issuer)
    answer = await ask(service, tokens["id_token"], headers=key.header())
    assert claims_in(answer["access_token"])["cnf"] == {"jkt": key.thumbprint}
    assert answer["token_type"] == "N_A"


@pytest.mark.rfc("openid-core#8.1")
async def test_a_pairwise_client_does_not_learn_the_local_subject(
    start: Start, config: dict[str, Any]
) -> None:
    config["pairwise_salt"] = "a-salt-of-at-least-16-characters"
    client_in(config, "web")["subject_type"] = "pairwise"
    service = await start(config)
    browser = Browser(service.issuer)
    token = (await ClientApp(service, browser).tokens(scope="openid"))["id_token"]
    sub = claims_in((await ask(service, token))["access_token"])["sub"]
    await browser.close()
    assert sub not in {"818727", claims_in(token)["sub"]}


async def test_the_decision_is_in_the_audit_log(
    service: RunningService, tokens: Any, events: list[object]
) -> None:
    await ask(service, tokens["id_token"])
    await ask(service, tokens["id_token"], audience="https://nobody.example")
    judged = [one for one in events if isinstance(one, TokenExchangeJudged)]
    assert [(one.allowed, one.requested_token_type) for one in judged] == [
        (True, "id_jag"),
        (False, "id_jag"),
    ]
    assert judged[0].audience == (OTHER,)


@pytest.mark.rfc("8414#2")
async def test_discovery_says_that_id_jags_are_issued(
    service: RunningService, config: dict[str, Any]
) -> None:
    name = "identity_chaining_requested_token_types_supported"
    path = "/.well-known/oauth-authorization-server"
    assert (await service.get(path))[name] == [TYPE + "id-jag"]
    service.reload(config | {"token_exchange": []})
    assert name not in (await service.get(path)).json


@pytest.mark.rfc("8414#2")
async def test_discovery_says_nothing_of_id_jags_where_no_client_may_exchange_tokens(
    service: RunningService, config: dict[str, Any]
) -> None:
    for client in config["clients"]:
        client["enabled"] = EXCHANGE not in client["allowed_grant_types"]
    service.reload(config)
    metadata = await service.get("/.well-known/oauth-authorization-server")
    assert "identity_chaining_requested_token_types_supported" not in metadata.json


async def test_explain_knows_an_id_jag(service: RunningService, tokens: Any, command: Any) -> None:
    facts = await explained(command, (await ask(service, tokens["id_token"]))["access_token"])
    assert (facts["kind"], facts["audience"]) == ("ID-JAG (JWT)", OTHER)
