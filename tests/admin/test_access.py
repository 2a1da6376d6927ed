"""The admin API takes few tokens, of few users, at one host (RFC 6750 §3, RFC 9068 §4, RFC 9449 §7)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from service.events.admin import AdminRefused
from tests.admin.conftest import ALICE, Admin, token_of
from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.service import RunningService, claims_in

pytestmark = pytest.mark.rfc("6750#3", "9068#4", "9449#7")

REGISTRY = "/admin/registry"
SESSIONS = f"/admin/users/{ALICE}/sessions"


@pytest.fixture
def desk(app_of: Callable[[str], ClientApp]) -> ClientApp:
    """A client by which users may operate the service."""
    return app_of("desk")


async def test_client_with_the_scope_reads(admin: Admin) -> None:
    answer = await admin("GET", REGISTRY)
    assert (answer.status, bool(answer["generation"])) == (200, True)


async def test_head_is_answered_as_get(admin: Admin) -> None:
    assert (await admin("HEAD", REGISTRY)).status == 200


@pytest.mark.parametrize("scope", ["admin.read", "admin.write"])
async def test_either_scope_is_enough_to_read(service: RunningService, scope: str) -> None:
    token = await token_of(service, "operations", scope)
    assert (await service.admin("GET", REGISTRY, token)).status == 200


async def test_audience_is_the_url_of_the_admin_api(service: RunningService) -> None:
    token = await token_of(service, "operations", "admin.read")
    assert claims_in(token)["aud"] == service.admin_url


async def test_audience_can_be_asked_for_by_resource(service: RunningService) -> None:
    form = {"scope": "api1 admin.read", "resource": service.admin_url}
    answer = await service.token("operations", grant_type="client_credentials", **form)
    assert answer["scope"] == "admin.read"
    assert (await service.admin("GET", REGISTRY, answer["access_token"])).status == 200


async def test_scopes_of_the_admin_api_never_come_by_default(service: RunningService) -> None:
    answer = await service.token("operations", grant_type="client_credentials")
    assert answer["scope"] == "api1"


async def test_reader_may_not_write(service: RunningService, events: list[object]) -> None:
    token = await token_of(service, "watching", "admin.read")
    answer = await service.admin("DELETE", SESSIONS, token)
    assert answer.refusal == (403, "insufficient_scope")
    assert 'scope="admin.write"' in answer.headers["WWW-Authenticate"]
    refused = next(one for one in events if isinstance(one, AdminRefused))
    assert (refused.client_id, refused.endpoint) == ("watching", "/admin/users/{sub}/sessions")


async def test_request_without_a_token_is_refused_without_an_error(service: RunningService) -> None:
    answer = await service.admin("GET", REGISTRY)
    assert answer.refusal == (401, "invalid_token")
    assert "error=" not in answer.headers["WWW-Authenticate"]


async def test_user_of_the_list_reads_and_writes(service: RunningService, desk: ClientApp) -> None:
    token = (await desk.tokens(scope="openid admin.write"))["access_token"]
    assert (await service.admin("GET", REGISTRY, token)).status == 200
    assert (await service.admin("DELETE", SESSIONS, token)).status == 204


async def test_user_outside_the_list_is_refused(
    service: RunningService, desk: ClientApp, events: list[object]
) -> None:
    token = (await desk.tokens("bob", scope="openid admin.write"))["access_token"]
    answer = await service.admin("GET", REGISTRY, token)
    assert answer.refusal == (403, "insufficient_scope")
    refused = next(one for one in events if isinstance(one, AdminRefused))
    assert (refused.client_id, refused.subject) == ("desk", "88421113")


async def test_without_conditions_no_user_is_let_in(start: Any, config: dict[str, Any]) -> None:
    del config["admin"]["allowed_users"]
    service = await start(config)
    browser = Browser(service.issuer)
    tokens = await ClientApp(service, browser, "desk").tokens(scope="openid admin.read")
    await browser.close()
    token = tokens["access_token"]
    assert (await service.admin("GET", REGISTRY, token)).refusal == (403, "insufficient_scope")


async def test_refreshed_token_keeps_what_the_code_gave(
    service: RunningService, desk: ClientApp
) -> None:
    first = await desk.tokens(scope="openid offline_access admin.read")
    refreshed = await desk.refresh(first["refresh_token"])
    assert (await service.admin("GET", REGISTRY, refreshed["access_token"])).status == 200


async def test_revoked_token_is_refused(service: RunningService, desk: ClientApp) -> None:
    token = (await desk.tokens(scope="openid admin.read"))["access_token"]
    await service.post("/connect/revocation", auth="desk", token=token)
    assert (await service.admin("GET", REGISTRY, token)).refusal == (401, "invalid_token")


async def test_bound_token_needs_its_proof_for_the_url_of_the_admin_api(
    service: RunningService,
) -> None:
    issued = DpopKey(service.issuer)
    form = {"grant_type": "client_credentials", "scope": "admin.read"}
    answer = await service.post(
        "/connect/token", auth="operations", headers={"DPoP": issued.proof()}, **form
    )
    token, key = answer["access_token"], DpopKey(str(service.admin_url), key=issued.key)
    sent = {"Authorization": f"DPoP {token}"}
    good = sent | {"DPoP": key.proof(REGISTRY, "GET", access_token=token)}
    assert (await service.admin("GET", REGISTRY, headers=good)).status == 200
    for_issuer = sent | {"DPoP": issued.proof(REGISTRY, "GET", access_token=token)}
    other = await service.admin("GET", REGISTRY, headers=for_issuer)
    assert other.refusal == (401, "invalid_dpop_proof")
    assert (await service.admin("GET", REGISTRY, token)).refusal == (401, "invalid_token")


@pytest.mark.parametrize("host", ["localhost", "evil.example", "127.0.0.1", ""])
async def test_another_host_is_refused(
    service: RunningService, events: list[object], host: str
) -> None:
    token = await token_of(service, "operations")
    answer = await service.admin("GET", REGISTRY, token, headers={"Host": host})
    assert answer.refusal == (421, "invalid_request")
    assert [one.error for one in events if isinstance(one, AdminRefused)] == ["invalid_request"]


async def test_answers_have_the_headers_that_protect_browsers(admin: Admin) -> None:
    answer = await admin("GET", REGISTRY)
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Content-Type-Options"] == "nosniff"
    assert answer.headers["Server"] == "token-service"
    assert "X-Request-ID" in answer.headers


async def test_cors_allows_no_other_origin(admin: Admin) -> None:
    answer = await admin("GET", REGISTRY, headers={"Origin": "https://web.example"})
    assert "Access-Control-Allow-Origin" not in answer.headers


@pytest.mark.parametrize("client", [None, "watching"])
async def test_refusal_does_not_tell_whether_there_is_such_a_user(
    service: RunningService, client: str | None
) -> None:
    token = None if client is None else await token_of(service, client, "admin.read")
    known = await service.admin("DELETE", SESSIONS, token)
    unknown = await service.admin("DELETE", "/admin/users/none/sessions", token)
    assert (known.status, known.body) == (unknown.status, unknown.body)
