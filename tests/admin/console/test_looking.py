"""The pages of the console show what there is, as text and never as markup, and keep nothing that was pasted."""

from __future__ import annotations

import logging
from html import unescape
from typing import Any

import pytest

from tests.admin.console.conftest import ALICE, HOSTILE, Operator
from tests.admin.console.test_changes import signed_in
from tests.conftest import Start
from tests.driving.service import RunningService

ESCAPED = "&lt;script&gt;alert(1)&lt;/script&gt;"
PAGES = [
    "/",
    "/clients",
    "/clients?find=web",
    "/clients?clients=2&apis=99",
    "/client?id=web",
    "/client?id=hostile",
    "/api?name=api1",
    "/registered-clients",
    "/users",
    "/users?by=username&text=nobody",
    "/users?by=email&text=nobody@example.com",
    f"/user?sub={ALICE}",
    "/user?sub=stan",
    "/explain",
    "/outbox",
    "/outbox?state=dead",
]


@pytest.mark.parametrize("path", PAGES)
async def test_page_is_shown_without_markup_of_others(operator: Operator, path: str) -> None:
    await operator.enter("rita")
    page = await operator.open(path)
    assert page.status == 200, page.text
    assert HOSTILE not in page.text
    assert "<title>" in page.text


@pytest.mark.parametrize("path", PAGES)
async def test_page_is_for_operators_only(operator: Operator, path: str) -> None:
    assert (await operator.open(path)).path == "/account/login"


@pytest.mark.parametrize("path", ["/client?id=hostile", "/clients?find=hostile", "/user?sub=stan"])
async def test_hostile_name_is_text(operator: Operator, path: str) -> None:
    await operator.enter()
    assert ESCAPED in (await operator.open(path)).text


@pytest.mark.parametrize(
    "path",
    [
        *("/client?id=nobody", "/client", "/client?id=admin-console"),
        "/api?name=nothing",
        *("/user?sub=nobody", "/user"),
    ],
)
async def test_unknown_thing_is_not_found(operator: Operator, path: str) -> None:
    await operator.enter()
    page = await operator.open(path)
    assert (page.status, page.text_of("error")) == (404, "not_found")


@pytest.mark.parametrize(
    "path",
    [
        "/users?by=password&text=x",
        f"/user?sub={ALICE}&part=sessions&cursor=!!",
        "/outbox?cursor=made-up",
        "/clients?find=a&find=b",
    ],
)
async def test_malformed_query_is_refused(operator: Operator, path: str) -> None:
    await operator.enter()
    page = await operator.open(path)
    assert (page.status, page.text_of("error")) == (400, "invalid_request")


async def test_overview_shows_health_store_keys_and_registry(operator: Operator) -> None:
    page = await operator.enter()
    assert page.text_of("health").startswith("Health")
    assert "ES256" in page.text_of("signing")
    assert "Generation" in page.text_of("registry-panel")


async def test_picture_leads_to_clients_and_apis(operator: Operator) -> None:
    await operator.enter()
    page = await operator.open("/clients?find=web")
    assert "/client?id=web" in page.links
    assert "/api?name=api1" in page.links


async def test_client_page_shows_no_secret(operator: Operator, service: RunningService) -> None:
    await operator.enter()
    page = await operator.open("/client?id=web")
    hashes = [
        secret.sha256
        for secret in service.features.shared.registry.current.clients["web"].client_secrets
    ]
    assert hashes
    assert all(str(one) not in page.text for one in hashes)
    assert "authorization_code" in page.text


@signed_in
async def test_user_page_shows_where_the_user_is_signed_in(operator: Operator) -> None:
    await operator.enter()
    page = await operator.open("/users?by=username&text=rita")
    assert page.url == operator.console + "/user?sub=rita"
    assert "data-session=" in page.text
    assert 'data-change="end-session"' in page.text


@signed_in
async def test_reader_is_offered_no_change(other: Operator) -> None:
    page = await other.open("/user?sub=rita")
    assert "data-session=" in page.text
    assert "data-change=" not in page.text


async def test_explanation_says_why_a_token_is_inactive(
    operator: Operator, service: RunningService
) -> None:
    token = (await service.user_token())["access_token"]
    await operator.enter()
    form = await operator.open("/explain")
    await service.post("/connect/revocation", auth="frontend", token=token)
    page = await operator.submit(form, operator.form_of(form, "/explain"), subject=token)
    assert (page.path, page.status) == ("/explain", 200)
    assert "revoked" in page.text_of("explained")
    assert token not in page.text


async def test_pasted_token_is_in_no_log_and_no_event(
    operator: Operator,
    service: RunningService,
    events: list[object],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    token = (await service.user_token())["access_token"]
    await operator.enter()
    form = await operator.open("/explain")
    await operator.submit(form, operator.form_of(form, "/explain"), subject=token)
    await operator.submit(form, operator.form_of(form, "/explain"), subject=token + "x")
    assert token not in caplog.text
    assert token not in repr(events)


async def test_cookie_of_the_console_is_explained(operator: Operator) -> None:
    await operator.enter()
    cookie = operator.console_cookie.partition("=")[2]
    form = await operator.open("/explain")
    page = await operator.submit(form, operator.form_of(form, "/explain"), subject=cookie)
    shown = page.text_of("explained")
    assert "cookie of the admin console" in shown
    assert (ALICE in shown, "active, while" in shown, cookie in page.text) == (True, True, False)


@pytest.mark.parametrize("subject", ["", " ", "a" * 8193, "not a token", "https://", "x://y"])
async def test_text_that_is_no_token_is_explained_by_a_page(
    operator: Operator, subject: str
) -> None:
    await operator.enter()
    form = await operator.open("/explain")
    page = await operator.submit(form, operator.form_of(form, "/explain"), subject=subject)
    assert page.status == 200
    assert page.has("problem") or page.has("explained")


async def test_token_in_the_address_is_not_read(operator: Operator) -> None:
    await operator.enter()
    page = await operator.open("/explain?subject=at_made-up")
    assert not page.has("explained")
    assert "at_made-up" not in page.text


async def test_300_clients_are_a_list_with_a_picture_of_what_is_found(
    start: Start, config: dict[str, Any]
) -> None:
    public = {"require_client_secret": False, "allowed_grant_types": ["authorization_code"]}
    config["clients"] += [
        {
            "client_id": f"shop-{number}",
            "allowed_scopes": ["openid", "api1"],
            "redirect_uris": ["https://shop.example/callback"],
            **public,
        }
        for number in range(300)
    ]
    operator = Operator(await start(config))
    whole = await operator.enter(path="/clients")
    assert whole.has("too-many")
    assert "<figure" not in whole.text
    found = await operator.open("/clients?find=shop-29")
    assert not found.has("too-many")
    assert found.text.count('class="node client"') == 11
    api = await operator.open("/api?name=api1")
    assert api.text.count('data-label="How"') == 20
    following = await operator.open("/api?name=api1&cursor=2")
    assert following.text.count('data-label="How"') == 20
    assert 'rel="next"' in api.text
    assert api.text.partition("<tbody>")[2] != following.text.partition("<tbody>")[2]
    assert 'rel="next"' not in (await operator.open("/api?name=api1&cursor=9999")).text
    await operator.close()


@signed_in
async def test_session_and_grant_are_found_by_their_ids(
    operator: Operator, service: RunningService
) -> None:
    await operator.enter()
    shared = service.features.shared
    (session,) = await shared.sessions.find_all_of("rita")
    await service.user_token()
    (grant,) = await shared.authorizations.find_all_of(ALICE)
    for by, found, sub in (("session", session.id, "rita"), ("grant", grant.id, ALICE)):
        page = await operator.open(f"/users?by={by}&text={found}")
        assert page.url.startswith(f"{operator.console}/user?sub={sub}")
        assert page.has(f"{by}-{found}")


@pytest.mark.parametrize("text", ["nothing", "S" * 16, "%2F..%2F", "%F0%9F%94%91"])
@pytest.mark.parametrize("by", ["session", "grant"])
async def test_id_of_nothing_is_found_nowhere(operator: Operator, by: str, text: str) -> None:
    await operator.enter()
    page = await operator.open(f"/users?by={by}&text={text}")
    assert (page.path, page.status) == ("/users", 200)
    assert f"no such {by}" in page.text_of("result")


async def test_explanation_leads_to_what_it_names(
    operator: Operator, service: RunningService
) -> None:
    await operator.enter()
    token = (await service.user_token())["access_token"]
    form = await operator.open("/explain")
    page = await operator.submit(form, operator.form_of(form, "/explain"), subject=token)
    assert f"/user?sub={ALICE}" in page.links
    assert "/client?id=frontend" in page.links
    assert any(link.startswith("/users?by=grant&text=") for link in page.links)


@pytest.mark.parametrize(
    ("page", "member"),
    [(f"/user?sub={ALICE}", f'"subject":"{ALICE}"'), ("/client?id=web", '"client_id":"web"')],
)
async def test_page_says_how_the_audit_log_names_it(
    operator: Operator, page: str, member: str
) -> None:
    await operator.enter()
    assert member in unescape((await operator.open(page)).text)


async def test_registered_client_is_found_by_its_id(operator: Operator) -> None:
    await operator.enter()
    page = await operator.open("/registered-clients")
    found = await operator.open("/client?id=web")
    assert ("/client" in [form.action for form in page.forms], found.status) == (True, 200)
