"""Signing in at the console, the rights of an operator, and the end of the session (RFC 7636, RFC 9700 §2.1, OIDC Core §3.1.2.1)."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from subprocess import Popen
from typing import Any

import pytest
from aiohttp import ClientSession

from service.admin.console.sign_in import is_page
from service.config.schema.server import Session
from service.events.admin import AdminRefused, AdminSignedIn, AdminSignedOut
from service.web.endpoint import empty_answer
from service.web.pages.cookies import Cookie
from service.wiring.serving import build_cookies
from tests.admin.console.conftest import ALICE, Change, Operator
from tests.conftest import Clock, Start
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

REFUSED = (403, "access_denied")


def refusals(events: list[object]) -> list[tuple[str, str | None]]:
    """The audited refusals, each with whose it was."""
    return [(one.error, one.subject) for one in events if isinstance(one, AdminRefused)]


async def test_writer_signs_in_and_sees_the_overview(operator: Operator) -> None:
    page = await operator.enter()
    assert (page.status, page.url) == (200, operator.console + "/")
    assert "Alice Smith" in page.text
    assert "read only" not in page.text


async def test_reader_is_told_that_nothing_can_be_changed(operator: Operator) -> None:
    assert "read only" in (await operator.enter("rita")).text


async def test_sign_in_leads_to_the_page_that_was_asked_for(operator: Operator) -> None:
    page = await operator.enter(path="/clients?find=web")
    assert page.url == operator.console + "/clients?find=web"


async def test_user_of_neither_condition_is_turned_away(
    operator: Operator, events: list[object]
) -> None:
    shown = await operator.enter("stan")
    assert shown.path == "/account/not-allowed"
    refused = await operator.submit(shown)
    assert (refused.status, refused.text_of("error")) == REFUSED
    assert refusals(events) == [("access_denied", None)]


async def test_no_user_enters_where_no_condition_is_written(
    start: Start, config: dict[str, Any]
) -> None:
    config["admin"] = {"url": "http://127.0.0.1:0"}
    operator = Operator(await start(config))
    page = await operator.open()
    assert (page.status, page.text_of("error")) == REFUSED
    await operator.close()


async def test_internal_client_is_unknown_without_the_section_admin(start: Start) -> None:
    service = await start(fresh_configuration())
    answer = await service.get("/connect/authorize?client_id=admin-console&response_type=code")
    assert (answer.status, b"client_id" in answer.body) == (400, True)


async def test_internal_client_has_no_token(service: RunningService) -> None:
    for auth in (None, ("admin-console", ""), ("admin-console", "admin-console-secret")):
        answer = await service.post(
            "/connect/token",
            auth=auth,
            grant_type="client_credentials",
            client_id="admin-console" if auth is None else None,
        )
        assert answer.refusal == (401, "invalid_client")


async def test_code_without_the_cookie_of_the_sign_in_is_refused(
    operator: Operator, other: Operator, events: list[object]
) -> None:
    login = await operator.open()
    sent = await operator.session.get(login.url)
    assert sent.status == 200
    stolen = await other.open("/callback?code=ac_stolen&state=made.Lw")
    assert (stolen.status, stolen.text_of("error")) == (400, "invalid_request")
    assert refusals(events) == [("invalid_request", None)]


async def test_code_counts_once(operator: Operator, service: RunningService) -> None:
    operator.sites = (service.issuer,)  # so that it stops before the console
    login = await operator.get(await _location(operator, "/"))
    page = await operator.log_in(login)
    assert page.status == 303
    callback, cookies = str(page.headers["Location"]), operator.cookie_header
    first = await _status_with(operator, cookies, callback)
    second = await _status_with(operator, cookies, callback)
    assert (first, second) == (303, 400)


async def _location(operator: Operator, path: str) -> str:
    async with operator.session.get(operator.console + path, allow_redirects=False) as answer:
        return answer.headers.get("Location", "")


async def _status_with(operator: Operator, cookies: str, url: str = "") -> int:
    """Ask with these cookies only, whatever the browser holds by now."""
    async with (
        ClientSession() as http,
        http.get(
            url or operator.console + "/clients", allow_redirects=False, headers={"Cookie": cookies}
        ) as answer,
    ):
        return answer.status


async def test_second_tab_is_led_to_the_page_that_it_asked_for(
    operator: Operator, events: list[object]
) -> None:
    first, second = await operator.open("/clients"), await operator.open("/outbox")
    await operator.log_in(first)
    page = await operator.log_in(second)
    assert (page.status, page.url) == (200, operator.console + "/outbox")
    assert refusals(events) == []


async def test_way_back_to_the_sign_in_leads_on(operator: Operator) -> None:
    await operator.enter(path="/clients")
    left = await _location(operator, "/")
    assert left == ""  # signed in
    page = await operator.open("/callback?code=ac_used&state=mark.L291dGJveA")
    assert (page.status, page.url) == (200, operator.console + "/outbox")


@pytest.mark.parametrize("state", ["", "mark", "mark.Ly9ldmlsLmV4YW1wbGU", "mark.@@@", "mark.gA"])
async def test_answer_of_no_page_leads_an_operator_to_the_overview(
    operator: Operator, state: str
) -> None:
    await operator.enter()
    page = await operator.open(f"/callback?code=ac_used&state={state}")
    assert (page.status, page.url) == (200, operator.console + "/")


async def test_expired_sign_in_says_what_to_do(operator: Operator) -> None:
    page = await operator.open("/callback?code=ac_old&state=mark.Lw")
    assert (page.status, page.text_of("error")) == (400, "invalid_request")
    assert "This sign-in has expired" in page.text
    assert page.element("continue")["href"] == "/"


async def test_cancelled_sign_in_says_what_to_do(operator: Operator) -> None:
    page = await operator.submit(await operator.open("/clients"), action="cancel")
    assert (page.status, page.text_of("error")) == REFUSED
    assert "You could not be signed in" in page.text
    assert page.element("continue")["href"] == "/"


async def test_signing_in_and_out_is_audited(operator: Operator, events: list[object]) -> None:
    page = await operator.enter()
    await operator.submit(page, operator.form_of(page, "/sign-out"))
    entered, left = (one for one in events if isinstance(one, (AdminSignedIn, AdminSignedOut)))
    assert isinstance(entered, AdminSignedIn)
    assert (entered.subject, entered.amr, entered.writes) == (ALICE, ("pwd",), True)
    assert (type(left), left.subject, left.session_id) == (
        AdminSignedOut,
        ALICE,
        entered.session_id,
    )


async def test_unused_session_ends_after_15_minutes(operator: Operator, clock: Clock) -> None:
    await operator.enter()
    clock.forward(minutes=14)
    assert (await operator.open("/clients")).path == "/clients"
    clock.forward(minutes=14)
    assert (await operator.open("/clients")).path == "/clients"
    held = operator.console_cookie
    clock.forward(minutes=16)
    assert await _status_with(operator, held) == 303


async def test_signing_out_ends_the_session_on_the_server(operator: Operator) -> None:
    page = await operator.enter()
    held = operator.console_cookie
    out = await operator.submit(page, operator.form_of(page, "/sign-out"))
    assert (out.path, "signed out" in out.text) == ("/signed-out", True)
    assert await _status_with(operator, held) == 303
    assert (await operator.open()).path == "/account/login"


async def test_end_of_the_users_session_ends_that_of_the_console(
    operator: Operator, service: RunningService
) -> None:
    await operator.enter()
    sessions = service.features.shared.sessions
    await sessions.end(*await sessions.find_all_of("818727"))
    assert (await operator.open("/clients")).path == "/account/login"


async def test_cookie_is_of_this_host_and_for_no_script(operator: Operator) -> None:
    await operator.enter()
    (cookie,) = (one for one in operator.session.cookie_jar if one.key.startswith("console"))
    assert (cookie["httponly"], cookie["samesite"], cookie["path"]) == (True, "Lax", "/")
    assert cookie["domain"] == "127.0.0.1"  # the jar's own note; the header names no domain


async def test_store_holds_a_hash_of_the_cookie(
    operator: Operator, service: RunningService
) -> None:
    await operator.enter()
    value = operator.console_cookie.partition("=")[2]
    keys = [key async for key in service.features.shared.kv.find_keys("*")]
    assert [key for key in keys if key.endswith(":cs")] != []
    assert [key for key in keys if value in key] == []


async def test_removed_writer_only_looks_after_a_reload(
    operator: Operator, reload: Callable[[Change], None]
) -> None:
    await operator.enter()
    reload(lambda config: config["admin"].update(readers=[{"sub": [ALICE]}], writers=[]))
    assert "read only" in (await operator.open()).text


async def test_removed_reader_sees_nothing_after_a_reload(
    operator: Operator, reload: Callable[[Change], None]
) -> None:
    await operator.enter("rita")
    reload(lambda config: config["admin"].update(readers=[]))
    assert (await operator.open()).path == "/account/not-allowed"


async def test_disabled_user_sees_nothing_after_a_reload(
    operator: Operator, reload: Callable[[Change], None]
) -> None:
    await operator.enter()
    reload(lambda config: config["users"]["list"][0].update(enabled=False))
    assert (await operator.open()).path == "/account/login"


@pytest.mark.parametrize(
    "path",
    ["//evil.example/", "https://evil.example/", "/\\evil.example", "/a/b", "/users?text=a b", ""],
)
def test_address_that_is_no_page_of_the_console_is_not_returned_to(path: str) -> None:
    assert not is_page(path)


@pytest.mark.parametrize("path", ["/", "/clients"])
async def test_page_can_be_neither_framed_nor_kept(operator: Operator, path: str) -> None:
    await operator.enter()
    headers = (await operator.open(path)).headers
    policy = headers["Content-Security-Policy"]
    assert "frame-ancestors 'none'" in policy
    assert "script-src 'self';" in policy
    assert "form-action 'self'" in policy
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"


async def test_another_host_is_misdirected(operator: Operator) -> None:
    async with operator.session.get(operator.console + "/", headers={"Host": "evil.example"}) as it:
        assert it.status == 421


async def test_unknown_page_is_a_page(operator: Operator) -> None:
    async with operator.session.get(
        operator.console + "/nowhere", headers={"Accept": "text/html"}
    ) as answer:
        assert answer.status == 404
        assert "no such page" in await answer.text()


async def test_names_of_clients_are_text(operator: Operator) -> None:
    page = await operator.enter(path="/clients?find=hostile")
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text


def test_cookies_are_bound_to_an_https_host() -> None:
    cookies = build_cookies("https://admin.example:8443", Session(cookie_name="console"))
    answer = empty_answer()
    cookies.set(answer, Cookie.SESSION, "value", max_age=None)
    written = answer.cookies["__Host-console"]
    assert written == "__Host-console=value; HttpOnly; Path=/; SameSite=Lax; Secure"


async def test_operators_of_all_tenants_sign_in_where_requests_need_one(
    start: Start, config: dict[str, Any]
) -> None:
    config |= {"tenants": [{"name": "acme"}], "tenants_required": True}
    operator = Operator(await start(config))
    assert (await operator.enter()).status == 200
    await operator.close()


async def test_session_counts_at_every_replica(
    start: Start, config: dict[str, Any], mortal_redis: tuple[str, Popen[bytes]]
) -> None:
    config["store"] = {"url": mortal_redis[0]}
    another = deepcopy(config)
    first, second = Operator(await start(config)), Operator(await start(another))
    await first.enter()
    value = first.console_cookie.partition("=")[2]
    cookie = f"console_{second.console.rpartition(':')[2]}={value}"
    assert await _status_with(second, cookie) == 200
    await first.close()
    await second.close()


async def test_page_says_that_the_store_cannot_be_reached(
    start: Start,
    config: dict[str, Any],
    mortal_redis: tuple[str, Popen[bytes]],
) -> None:
    url, process = mortal_redis
    config["store"] = {"url": url}
    service = await start(config)
    operator = Operator(service)
    await operator.enter()
    process.kill()
    process.wait()
    page = await operator.open("/clients")
    assert (page.status, page.text_of("error")) == (503, "temporarily_unavailable")
    assert refusals(service.events) == []
    await operator.close()
