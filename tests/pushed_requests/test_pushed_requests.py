"""A pushed request is taken to the authorize endpoint by its request_uri, until it is answered (RFC 9126)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.conftest import Clock, Start
from tests.driving.browser import Page
from tests.driving.client_app import PUBLIC, ClientApp
from tests.driving.dpop import DpopKey
from tests.driving.registry import client_in
from tests.driving.service import Answer, RunningService

pytestmark = pytest.mark.rfc("9126#2", "9126#4")

URN = "urn:ietf:params:oauth:request_uri:"


async def push(app: ClientApp, headers: dict[str, str] | None = None, **changes: Any) -> Answer:
    """POST /connect/par with the client's usual request."""
    auth = None if app.client_id in PUBLIC else app.client_id
    form: dict[str, Any] = app.parameters(**changes)
    return await app.service.post("/connect/par", auth=auth, headers=headers, **form)


async def follow(app: ClientApp, request_uri: str, **more: str) -> Page:
    """Send the browser to the authorize endpoint with what was pushed."""
    query = urlencode({"client_id": app.client_id, "request_uri": request_uri} | more)
    return await app.browser.get(f"{app.service.issuer}/connect/authorize?{query}")


async def pushed(app: ClientApp, **changes: Any) -> str:
    return str((await push(app, **changes))["request_uri"])


@pytest.mark.parametrize(("client_id", "lifetime"), [("web", 60), ("spa", 90)])
async def test_a_person_signs_in_by_a_pushed_request(
    app_of: Callable[[str], ClientApp], client_id: str, lifetime: int
) -> None:
    app = app_of(client_id)
    answer = await push(app)
    assert (answer.status, answer["expires_in"]) == (201, lifetime)
    assert answer["request_uri"].startswith(URN)
    page = await app.browser.log_in(await follow(app, answer["request_uri"]))
    assert page.parameters["state"] == "the-state"
    tokens = await app.redeem(page.parameters["code"])
    assert tokens["scope"] == "api1 openid"


async def test_parameters_outside_it_are_ignored_except_client_id(app: ClientApp) -> None:
    uri = await pushed(app)
    page = await follow(app, uri, scope="openid", state="other", prompt="none", nonce="other")
    page = await app.browser.log_in(page)
    assert page.parameters["state"] == "the-state"
    assert (await app.redeem(page.parameters["code"]))["scope"] == "api1 openid"


@pytest.mark.rfc("6749#3.1")
async def test_client_cannot_name_a_certificate_that_it_does_not_show(app: ClientApp) -> None:
    named: dict[str, Any] = {"x5t#S256": "bwcK0esc3ACC3DB2Y5_lESsXE8o9ltc05O89jdN-dg2"}
    answer = await push(app, **named)
    page = await app.browser.log_in(await follow(app, answer["request_uri"]))
    assert (await app.redeem(page.parameters["code"])).status == 200


async def test_a_look_at_the_login_page_does_not_use_it_up(app: ClientApp) -> None:
    uri = await pushed(app)
    assert (await follow(app, uri)).has("login")
    page = await app.browser.log_in(await follow(app, uri))
    assert "code" in page.parameters


async def test_the_first_answer_uses_it_up(app: ClientApp) -> None:
    uri = await pushed(app)
    begun = await follow(app, uri)
    assert "code" in (await app.browser.log_in(await follow(app, uri))).parameters
    again = await follow(app, uri)
    assert (again.status, again.error) == (400, "invalid_request_uri")
    late = await app.browser.submit(begun, username="alice", password="alice-password")
    assert late.status == 400


async def test_a_refusal_is_an_answer_too(app: ClientApp) -> None:
    uri = await pushed(app, prompt="none")
    assert (await follow(app, uri)).parameters["error"] == "login_required"
    assert (await follow(app, uri)).error == "invalid_request_uri"


async def test_cancelling_uses_it_up(app: ClientApp) -> None:
    uri = await pushed(app)
    page = await follow(app, uri)
    cancelled = await app.browser.submit(page, action="cancel")
    assert cancelled.parameters["error"] == "access_denied"
    assert (await follow(app, uri)).error == "invalid_request_uri"


@pytest.mark.parametrize(("client_id", "lifetime"), [("web", 60), ("spa", 90)])
async def test_it_ends_and_a_sign_in_that_has_begun_goes_on(
    app_of: Callable[[str], ClientApp], clock: Clock, client_id: str, lifetime: int
) -> None:
    app = app_of(client_id)
    uri = await pushed(app)
    clock.forward(seconds=lifetime - 5)
    page = await follow(app, uri)
    clock.forward(seconds=6)
    assert (await follow(app, uri)).error == "invalid_request_uri"
    assert "code" in (await app.browser.log_in(page)).parameters


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    pushing = {"client_id": "pushing", "require_pushed_authorization_requests": True}
    config["clients"].append(client_in(config, "web") | pushing)
    client_in(config, "spa")["pushed_authorization_lifetime"] = "90s"
    return config


@pytest.mark.rfc("9126#6")
async def test_a_client_that_has_to_push_gets_nothing_otherwise(app: ClientApp) -> None:
    page = await app.authorize(client_id="pushing")
    assert page.parameters["error"] == "invalid_request"


@pytest.mark.rfc("9126#5")
async def test_every_client_may_have_to_push(start: Start, config: dict[str, Any]) -> None:
    service = await start(config | {"require_pushed_authorization_requests": True})
    discovery = await service.get("/.well-known/openid-configuration")
    assert discovery["require_pushed_authorization_requests"] is True
    assert discovery["pushed_authorization_request_endpoint"] == f"{service.issuer}/connect/par"
    query = {
        "client_id": "web",
        "redirect_uri": "https://web.example/callback",
        "response_type": "code",
        "scope": "openid",
        "code_challenge": "c" * 43,
        "code_challenge_method": "S256",
    }
    answer = await service.get("/connect/authorize", params=query)
    assert "error=invalid_request" in answer.headers["Location"]


@pytest.mark.rfc("9449#10.1")
async def test_a_proof_binds_the_code_to_its_key(service: RunningService, app: ClientApp) -> None:
    key = DpopKey(service.issuer)
    headers = key.header("/connect/par")
    uri = (await push(app, headers=headers))["request_uri"]
    code = (await app.browser.log_in(await follow(app, uri))).parameters["code"]
    assert (await app.redeem(code)).refusal == (400, "invalid_dpop_proof")
    assert (await app.redeem(code, headers=key.header()))["token_type"] == "DPoP"


@pytest.mark.rfc("9449#10.1")
async def test_a_proof_and_a_dpop_jkt_that_agree_are_accepted(
    service: RunningService, app: ClientApp
) -> None:
    key = DpopKey(service.issuer)
    headers = key.header("/connect/par")
    right = await push(app, headers=headers, dpop_jkt=key.thumbprint)
    assert right.status == 201
