"""A user of another tenant gets the same answer as for a wrong password: text, status and work (OWASP ASVS 6.3.8)."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from service.events.users import LoginFailed, LoginLocked
from service.identity import passwords
from service.model.password_hash import PasswordHash
from tests.ciba.consumption import Device
from tests.device.tv import Television, ask_for_codes
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("6749#4.3.2")

BETA = "tenant:beta"


@pytest.fixture
def hashed(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """The shapes of all hashes that were computed: what their time depends on."""
    shapes, matches = list[object](), vars(passwords)["matches"]

    def record_shape(password: str, stored: PasswordHash) -> bool:
        shapes.append(stored.shape)
        return bool(matches(password, stored))

    monkeypatch.setattr(passwords, "matches", record_shape)
    return shapes


def shown(page: Page) -> tuple[int, str, set[str]]:
    """The text of a page, without values that are new on each."""
    text = re.sub('value="[^"]*"|request=[^"&]*|"challenge": ?"[^"]*"', "", page.text)
    return page.status, text, {*page.headers}


async def refused(app: ClientApp, username: str, **fields: str) -> Page:
    app.browser.forget_cookies()
    return await app.browser.log_in(await app.authorize(acr_values=BETA), username, **fields)


async def test_the_login_page_does_not_tell_a_user_of_another_tenant_from_a_wrong_password(
    app: ClientApp, events: list[object], hashed: list[object]
) -> None:
    await refused(app, "nobody")  # the first sign-in of a process measures a refusal
    events.clear()
    hashed.clear()
    wrong = await refused(app, "bob", password="wrong")
    other = await refused(app, "alice")
    unknown = await refused(app, "nobody")
    assert wrong.has("login-error")
    assert shown(other) == shown(wrong)
    assert unknown.status == other.status
    assert len({*hashed}) == 1
    assert len(hashed) == 3
    reasons = [event.reason for event in events if isinstance(event, LoginFailed)]
    assert reasons == ["wrong_password", "other_tenant", "unknown"]


async def test_a_right_password_at_another_tenant_counts_as_a_failure(
    app: ClientApp, events: list[object]
) -> None:
    for _ in range(5):
        await refused(app, "alice")
    assert any(isinstance(event, LoginLocked) for event in events)
    app.browser.forget_cookies()
    page = await app.browser.log_in(await app.authorize(acr_values="tenant:acme"))
    assert page.has("login-error")


async def test_a_user_of_no_tenant_is_refused_as_one_of_another(app: ClientApp) -> None:
    page = await refused(app, "carol")
    assert page.has("login-error")
    assert "code" in (await app.browser.log_in(await app.authorize(), "carol")).parameters


async def by_password(service: RunningService, client: str = "frontend", **form: str) -> Answer:
    return await service.user_token(client, **form)


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """`opaque` is for Beta alone; carol is of no tenant."""
    client_in(config, "opaque")["tenants"] = ["beta"]
    config["users"]["list"][2]["enabled"] = True
    return config


async def test_the_password_grant_refuses_a_user_of_another_tenant_as_a_wrong_password(
    service: RunningService,
) -> None:
    wrong = await service.token(
        "opaque", grant_type="password", username="bob", password="wrong", scope="api1"
    )
    other = await by_password(service, "opaque")
    assert other.refusal == (400, "invalid_grant")
    assert other.body == wrong.body
    asked = await by_password(service, acr_values=BETA)
    assert asked.body == wrong.body
    assert (await by_password(service, acr_values="tenant:acme")).status == 200


async def test_a_device_of_another_tenant_is_not_for_this_user(
    service: RunningService, browser: Browser
) -> None:
    tv = await Television.switch_on(service, browser)
    assert (await tv.confirmation("alice")).has("login-error")
    assert (await tv.poll()).refusal == (400, "authorization_pending")


async def test_a_device_of_another_tenant_does_not_take_the_session(
    app: ClientApp, service: RunningService
) -> None:
    await app.code("alice")
    tv = await Television.switch_on(service, app.browser)
    page = await tv.enter()
    assert page.path == "/account/login"
    forged = await app.browser.get(page.url.replace("/account/login", "/device"))
    assert forged.path == "/account/login"
    assert (await app.browser.log_in(page, "bob")).has("device-allow")


@pytest.mark.parametrize("hint", ["alice", "818727", "nobody"])
async def test_ciba_does_not_know_users_of_another_tenant(
    service: RunningService, hint: str
) -> None:
    answer = await Device(service).ask(login_hint=hint)
    assert answer.refusal == (400, "unknown_user_id")
    assert (await Device(service).ask(login_hint="bob")).status == 200


REQUIRED = (400, "invalid_request")


async def test_a_request_has_to_name_a_tenant_where_one_is_required(
    app: ClientApp, reload: Callable[..., None]
) -> None:
    def require(config: dict[str, Any]) -> None:
        config["tenants_required"] = True
        for name in ("tv", "till"):
            client_in(config, name)["tenants"] = []

    reload(require)
    service = app.service
    for changes in ({}, {"acr_values": "tenant:unknown"}):
        assert (await app.authorize(**changes)).error == "invalid_request"
        sent: dict[str, Any] = {**app.parameters(**changes)}
        pushed = await service.post("/connect/par", auth="web", **sent)
        assert pushed.refusal == REQUIRED
        assert (await Device(service).ask(**changes)).refusal == REQUIRED
        assert (await by_password(service, **changes)).refusal == REQUIRED
    assert (await ask_for_codes(service, "tv", scope="openid")).refusal == REQUIRED
    named = {"acr_values": "tenant:acme"}
    assert (await app.authorize(**named)).has("login")
    assert (await Device(service).ask(**named)).status == 200
    assert (await by_password(service, **named)).status == 200
    only_one = ClientApp(service, app.browser, "spa")
    assert (await only_one.authorize()).has("login")
