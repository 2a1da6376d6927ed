"""The admin API shows keys, the registry and who can reach what, and explains tokens and requests."""

from __future__ import annotations

import json
from base64 import urlsafe_b64encode
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.admin.conftest import Admin, operator, token_of
from tests.admin.test_clients_and_apis import pages
from tests.driving.client_app import ClientApp
from tests.driving.service import Answer, RunningService


async def explain(admin: Admin, text: str) -> dict[str, str]:
    """Return the lines about a text by their names."""
    answer = await admin("POST", "/admin/explain", json={"text": text})
    assert answer.status == 200, answer.body
    return {fact["name"]: fact["value"] for fact in answer["facts"]}


async def test_signing_key_is_shown(admin: Admin, service: RunningService) -> None:
    answer = await admin("GET", "/admin/keys")
    signing = [key["kid"] for key in answer["items"] if key["state"] == "signing"]
    assert signing == [*service.features.ring.signing_kids.values()]
    assert answer["items"][0]["used_from"].endswith("Z")
    assert b"sealed" not in answer.body


async def test_registry_is_shown(admin: Admin, config: dict[str, Any]) -> None:
    answer = await admin("GET", "/admin/registry")
    assert (answer["clients"], answer["refused"]) == (len(config["clients"]), None)
    assert answer["loaded_at"].endswith("Z")
    assert answer["files"]


async def test_refused_reload_is_shown_with_its_findings(
    admin: Admin, service: RunningService
) -> None:
    registry = service.features.shared.registry
    before = registry.current.generation
    file = service.features.shared.configuration.file
    file.write_text(json.dumps(json.loads(file.read_text()) | {"unknown_key": 1}))
    assert not registry.reload()
    answer = await admin("GET", "/admin/registry")
    assert answer["generation"] == before
    assert any("unknown_key" in finding for finding in answer["refused"]["findings"])


async def test_ways_are_shown_page_by_page(admin: Admin) -> None:
    every = [way for page in await pages(admin, "/admin/graph", 2) for way in page]
    (whole,) = await pages(admin, "/admin/graph", 200)
    assert every == whole
    assert len(whole) > 2
    assert whole[0]["place"].rpartition(":")[2].isdecimal()


async def test_ways_of_a_client_to_an_api_are_shown(admin: Admin) -> None:
    answer = await admin("GET", "/admin/why?client=machine&api=api1")
    assert {(way["client"], way["api"]) for way in answer["ways"]} == {("machine", "api1")}
    assert answer["missing"] == []


async def test_missing_conditions_are_shown(admin: Admin) -> None:
    answer = await admin("GET", "/admin/why?client=machine&api=api1&scope=api1.nothing")
    assert answer["ways"] == []
    assert answer["missing"]


async def test_ways_to_the_admin_api_are_those_that_give_its_tokens(
    start: Any, config: dict[str, Any]
) -> None:
    grants = ["password", "client_credentials", "implicit"]
    config["clients"] += [
        operator("mixed", "admin.read", allowed_grant_types=grants),
        operator("talking", "admin.read", allowed_grant_types=["password"]),
    ]
    service = await start(config)
    token = await token_of(service, "operations")
    ways = await service.admin("GET", f"/admin/graph?api={service.admin_url}", token)
    found = {way["client"]: way["grant_types"] for way in ways["items"]}
    assert found["mixed"] == ["client_credentials"]
    assert "talking" not in found
    path = f"/admin/why?client=talking&api={service.admin_url}"
    why = await service.admin("GET", path, token)
    assert why["missing"] == [
        "allowed_grant_types has neither authorization_code nor client_credentials"
    ]


async def test_cursor_with_a_number_of_thousands_of_digits_is_refused(admin: Admin) -> None:
    generation = (await admin("GET", "/admin/registry"))["generation"]
    cursor = urlsafe_b64encode(f"{generation} {'9' * 4400}".encode()).decode().rstrip("=")
    answer = await admin("GET", f"/admin/graph?cursor={cursor}")
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.parametrize("query", ["client=machin&api=api1", "client=machine&api=api9"])
async def test_reach_of_an_unknown_name_is_not_found(admin: Admin, query: str) -> None:
    answer = await admin("GET", f"/admin/why?{query}")
    assert answer.refusal == (404, "not_found")
    assert "did you mean" in answer["error_description"]


async def test_graph_of_an_unknown_client_is_not_found(admin: Admin) -> None:
    assert (await admin("GET", "/admin/graph?client=nobody")).refusal == (404, "not_found")


@pytest.mark.parametrize("query", ["", "?client=machine", "?api=api1"])
async def test_reach_needs_a_client_and_an_api(admin: Admin, query: str) -> None:
    assert (await admin("GET", f"/admin/why{query}")).refusal == (400, "invalid_request")


async def test_cursor_of_an_older_registry_is_refused(
    admin: Admin, service: RunningService
) -> None:
    first = await admin("GET", "/admin/graph?limit=1")
    registry = service.features.shared.registry
    file = service.features.shared.configuration.file
    changed = json.loads(file.read_text())
    changed["clients"].pop(0)
    file.write_text(json.dumps(changed))
    assert registry.reload()
    answer = await admin("GET", f"/admin/graph?limit=1&cursor={first['next']}")
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == (
        "cursor is of a registry that was reloaded since: begin again"
    )


async def test_token_is_explained(admin: Admin, app: ClientApp) -> None:
    tokens = await app.tokens()
    facts = await explain(admin, tokens["access_token"])
    assert (facts["state"], facts["client"]) == ("active", "web")


async def test_used_code_is_explained(admin: Admin, app: ClientApp) -> None:
    code = await app.code()
    await app.redeem(code)
    facts = await explain(admin, code)
    assert facts["state"] == "inactive: it was used"


async def test_only_what_the_header_of_a_foreign_jwt_has_is_shown(admin: Admin) -> None:
    header = urlsafe_b64encode(b'{"alg":"RS256"}').decode().rstrip("=")
    facts = await explain(admin, f"{header}.e30.AAAA")
    shown = {name: value for name, value in facts.items() if name.endswith("(unverified)")}
    assert shown == {"alg (unverified)": "RS256"}


async def test_request_is_explained(admin: Admin, app: ClientApp) -> None:
    facts = await explain(admin, app.url(redirect_uri="https://evil.example/"))
    assert (facts["kind"], facts["parameter"]) == ("authorization request", "redirect_uri")


async def test_token_is_not_repeated(admin: Admin, app: ClientApp) -> None:
    tokens = await app.tokens(scope="openid api1 offline_access")
    for name in ("access_token", "refresh_token", "id_token"):
        answer = await admin("POST", "/admin/explain", json={"text": tokens[name]})
        assert tokens[name].encode() not in answer.body


@pytest.mark.parametrize(
    "body",
    [{}, {"text": ""}, {"text": 1}, {"text": "  "}, {"text": "a", "more": 1}, {"token": "a"}],
    ids=str,
)
async def test_explanation_needs_a_text(admin: Admin, body: dict[str, object]) -> None:
    answer = await admin("POST", "/admin/explain", json=body)
    assert answer.refusal == (400, "invalid_request")
    assert answer["error_description"] == (
        "the body has to have one member, text: a token or a URL"
    )


async def test_url_of_nothing_is_refused(admin: Admin) -> None:
    url = f"https://elsewhere.example/?{urlencode({'a': 'b'})}"
    answer: Answer = await admin("POST", "/admin/explain", json={"text": url})
    assert answer.refusal == (400, "invalid_request")
