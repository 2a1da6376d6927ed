"""An API with a `url` is one API by two identifiers, and tells clients how to get tokens for it (RFC 8707, RFC 9728)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conftest import Start
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import RunningService, claims_in
from tests.token_exchange.exchanging import EXCHANGE

pytestmark = pytest.mark.rfc("8707#2")

URL = "https://api.example/v1?x=1"
API2 = "https://api2.example"
METADATA = "/.well-known/oauth-protected-resource/api1"


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """api1 has a URL, and exchanges by delegation and by token exchange; a user's name is asked for by each API."""
    config["server"] = {"trusted_proxies": ["127.0.0.1", "::1"]}
    api1, api2 = config["api_resources"][:2]
    api1 |= {
        "url": URL,
        "user_claims": ["name"],
        "display_name": {"en": "Orders", "de": "Aufträge"},
    }
    api2 |= {"url": API2, "user_claims": ["email"]}
    client = client_in(config, "api1")
    client["allowed_grant_types"] = ["delegation", EXCHANGE]
    client["allowed_scopes"] = ["api1", "api2"]
    client_in(config, "opaque")["allowed_scopes"].append("api2")
    config["token_exchange"] = [{"clients": ["api1"], "scopes": ["api2"], "audiences": ["api2"]}]
    return config


@pytest.mark.parametrize(
    ("resource", "aud"),
    [
        ([], "api1"),
        ("api1", "api1"),
        (URL, URL),
        ([URL, "api1"], URL),
        ([URL, "api2"], ["api2", URL]),
    ],
)
async def test_the_audience_is_what_the_client_has_asked_for(
    service: RunningService, resource: Any, aud: Any
) -> None:
    scope = "api1 api2" if "api2" in resource else "api1"
    answer = await service.user_token(scope=scope, resource=resource)
    assert claims_in(answer["access_token"])["aud"] == aud


OTHERS = [
    *(URL + "/", URL.upper(), "https://api.example/v1", URL + "#top", "http://api.example/v1?x=1"),
    *("https://u@api.example/v1?x=1", "https://api.example:8443/v1?x=1", "https://api2.example//"),
    *(" https://api2.example/", "https://api2.exam\tple/", "//api2.example/", "api://api2.example"),
]
SPELLINGS = {
    "https://api.example:443/v1?x=1": URL,
    "HTTPS://API.Example/v1?x=1": URL,
    "https://api.example/%76%31?x=1": URL,
    "https://api2.example/": API2,
    "https://API2.example:443": API2,
}
spelled = pytest.mark.parametrize("resource", SPELLINGS)


@pytest.mark.rfc("8707#2", "3986#6.2.2", "3986#6.2.3")
@pytest.mark.parametrize("resource", OTHERS)
async def test_another_url_is_not_the_apis(service: RunningService, resource: str) -> None:
    answer = await service.user_token(scope="api1 api2", resource=resource)
    assert answer.refusal == (400, "invalid_target")


@pytest.mark.rfc("3986#6.2.2", "3986#6.2.3")
@spelled
async def test_audience_has_the_registered_spelling_of_the_url(
    service: RunningService, resource: str
) -> None:
    answer = await service.user_token(scope="api1 api2", resource=[resource, SPELLINGS[resource]])
    assert claims_in(answer["access_token"])["aud"] == SPELLINGS[resource]


@pytest.mark.rfc("3986#6.2.2", "3986#6.2.3")
@spelled
async def test_an_authorization_is_for_the_api_however_its_url_is_spelled(
    app: ClientApp, resource: str
) -> None:
    url, scope = SPELLINGS[resource], "openid api1 api2 offline_access"
    client_in_request = {"scope": scope, "resource": resource}
    first = await app.redeem(await app.code(**client_in_request), resource=url)
    again = await app.refresh(first["refresh_token"], resource=resource)
    assert [claims_in(each["access_token"])["aud"] for each in (first, again)] == [url, url]


@pytest.mark.rfc("3986#6.2.2", "3986#6.2.3")
@pytest.mark.parametrize("parameter", ["resource", "audience"])
async def test_an_exchange_knows_the_api_however_its_url_is_spelled(
    service: RunningService, parameter: str
) -> None:
    source = (await service.user_token(resource=URL))["access_token"]
    kind = "urn:ietf:params:oauth:token-type:access_token"
    form = {"scope": "api2", "subject_token": source, "subject_token_type": kind}
    form[parameter] = "https://API2.example:443/"
    answer = await service.token("api1", grant_type=EXCHANGE, **form)
    assert claims_in(answer["access_token"])["aud"] == API2


@pytest.mark.parametrize("client", ["frontend", "opaque"], ids=["jwt", "reference"])
async def test_introspection_and_check_know_the_api_by_its_url(
    service: RunningService, client: str
) -> None:
    answer = await service.user_token(client, "api1 api2", resource=[URL, "api2"])
    token = answer["access_token"]
    told = await service.introspect(token)
    assert (told["active"], told["scope"], told["name"]) == (True, "api1", "Alice Smith")
    assert "email" not in told.json  # which is for api2
    bearer = {"Authorization": f"Bearer {token}"}
    assert (await service.get("/connect/check/api1", headers=bearer)).status == 200
    only = (await service.user_token(client, "api1", resource=URL))["access_token"]
    assert not await service.is_active(only, caller="api2")
    bearer = {"Authorization": f"Bearer {only}"}
    assert (await service.get("/connect/check/api2", headers=bearer)).status == 401


async def test_delegation_and_exchange_know_the_api_by_its_url(service: RunningService) -> None:
    source = (await service.user_token(resource=URL))["access_token"]
    form: dict[str, Any] = {"scope": "api2", "resource": "https://api2.example"}
    delegated = await service.token("api1", grant_type="delegation", token=source, **form)
    kind = "urn:ietf:params:oauth:token-type:access_token"
    form |= {"subject_token": source, "subject_token_type": kind}
    exchanged = await service.token("api1", grant_type=EXCHANGE, **form)
    for answer in (delegated, exchanged):
        assert claims_in(answer["access_token"])["aud"] == "https://api2.example"
        assert await service.is_active(answer["access_token"], caller="api2")
    form["resource"] = URL  # which the rule does not name
    refused = await service.token("api1", grant_type=EXCHANGE, **form)
    assert refused.refusal == (400, "invalid_target")


@pytest.mark.rfc("8707#2.2")
async def test_what_was_granted_by_name_is_narrowed_by_url(app: ClientApp) -> None:
    code = await app.code(scope="openid api1 offline_access", resource="api1")
    first = await app.redeem(code, resource=URL)
    assert claims_in(first["access_token"])["aud"] == URL
    code = await app.code(scope="openid api1 offline_access", resource=URL)
    assert (await app.redeem(code, resource="api2")).refusal == (400, "invalid_target")
    second = await app.redeem(code)
    assert claims_in(second["access_token"])["aud"] == URL
    third = await app.refresh(second["refresh_token"], resource="api1")
    assert claims_in(third["access_token"])["aud"] == "api1"


@pytest.mark.rfc("9728#2", "9728#3.2")
async def test_the_metadata_say_how_to_get_tokens(service: RunningService) -> None:
    answer = await service.get(METADATA, headers={"Origin": "https://anywhere.example"})
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert answer.headers["Content-Type"] == "application/json"
    told = answer.json
    assert "ES256" in told.pop("dpop_signing_alg_values_supported")
    assert told == {
        "resource": URL,
        "authorization_servers": [service.issuer],
        "scopes_supported": ["api1", "api1.read"],
        "bearer_methods_supported": ["header"],
        "resource_name": "Orders",
        "resource_name#en": "Orders",
        "resource_name#de": "Aufträge",
    }


@pytest.mark.parametrize("name", ["api9", "", "shy", "api1/more", "%00"])
async def test_an_api_without_a_url_has_no_metadata(
    start: Start, config: dict[str, Any], name: str
) -> None:
    config["api_resources"].append({"name": "shy"})
    service = await start(config)
    answer = await service.get(f"/.well-known/oauth-protected-resource/{name}")
    assert answer.refusal == (404, "invalid_request")


@pytest.mark.rfc("9728#3.2")
async def test_metadata_of_an_api_with_hidden_scopes_list_none(
    start: Start, config: dict[str, Any]
) -> None:
    hidden = {"show_in_discovery": False}
    config["api_scopes"] = [{"name": name, **hidden} for name in ("api1", "api1.read")]
    assert "scopes_supported" not in (await (await start(config)).get(METADATA)).json


async def test_metadata_are_only_read(service: RunningService) -> None:
    answer = await service.request("POST", METADATA)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET,HEAD")
    assert (await service.request("HEAD", METADATA)).status == 200
    asks = {"Origin": "https://anywhere.example", "Access-Control-Request-Method": "GET"}
    preflight = await service.request("OPTIONS", METADATA, headers=asks)
    assert preflight.headers["Access-Control-Allow-Methods"] == "GET"
    assert preflight.headers["Access-Control-Allow-Origin"] == "*"


async def test_an_api_that_is_named_by_a_url_is_found_by_its_encoded_name(
    start: Start, config: dict[str, Any]
) -> None:
    name = "https://mcp.example/mcp"
    config["api_resources"].append({"name": name, "url": name})
    client_in(config, "frontend")["allowed_scopes"].append(name)
    service = await start(config)
    encoded = "https%3A%2F%2Fmcp.example%2Fmcp"
    told = await service.get(f"/.well-known/oauth-protected-resource/{encoded}")
    assert told["resource"] == name
    token = (await service.user_token(scope=name, resource=name))["access_token"]
    for method in ("GET", "HEAD"):
        bearer = {"Authorization": f"Bearer {token}"}
        answer = await service.request(method, f"/connect/check/{encoded}", headers=bearer)
        assert answer.status == 200


@pytest.mark.rfc("9728#5.1", "6750#3", "9449#7.1")
async def test_challenges_lead_to_the_metadata(service: RunningService) -> None:
    token = (await service.user_token())["access_token"]
    link = f'resource_metadata="{service.issuer}{METADATA}"'

    async def challenge(path: str, **headers: str) -> str:
        answer = await service.get(f"/connect/check/{path}", headers=headers)
        return str(answer.headers["WWW-Authenticate"])

    for headers in ({}, {"Authorization": "Bearer nonsense"}):
        bearer, _, dpop = (await challenge("api1", **headers)).partition(", DPoP ")
        assert bearer.endswith(link)
        assert "resource_metadata" not in dpop
    wanting = await challenge("api1?scope=api1.read", Authorization=f"Bearer {token}")
    bearer = wanting.partition(", DPoP ")[0]
    assert bearer.endswith(f'scope="api1.read", {link}')
    proof = DpopKey(service.issuer).proof("", access_token="x", htu="https://x.example/")
    proved = await challenge("api1", Authorization="DPoP x", DPoP=proof)
    assert proved.partition(", DPoP ")[2].endswith(link)


async def test_challenges_of_an_api_without_a_url_have_no_link(
    start: Start, config: dict[str, Any]
) -> None:
    del config["api_resources"][0]["url"]
    service = await start(config)
    answer = await service.get("/connect/check/api1")
    assert "resource_metadata" not in answer.headers["WWW-Authenticate"]
