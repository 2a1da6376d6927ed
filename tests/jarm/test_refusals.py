"""Whatever is refused at the client is refused in a JWT, where the request asks for one (JARM §2.1)."""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import urlencode

import pytest

from service.authorize.parking import Parking
from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.jarm.conftest import Read

pytestmark = pytest.mark.rfc("jarm#2.1", "6749#4.1.2.1")


@pytest.mark.parametrize("mode", ["jwt", "fragment.jwt", "form_post.jwt"])
async def test_a_refusal_before_the_user_is_asked_is_a_jwt(
    app: ClientApp, read: Read, mode: str
) -> None:
    claims = await read(await app.authorize(response_mode=mode, prompt="none"))
    assert (claims["error"], claims["state"]) == ("login_required", "the-state")
    assert claims.keys() == {"error", "error_description", "state", "session_state"}


async def test_a_refusal_of_a_request_by_post_is_a_jwt(app: ClientApp, read: Read) -> None:
    form = app.parameters(response_mode="jwt", scope="openid unknown")
    answer = await app.service.post("/connect/authorize", **form)  # type: ignore[arg-type]
    page = Page(answer.headers["Location"], answer.status, answer.headers, "")
    assert (await read(page))["error"] == "invalid_scope"


async def test_cancelling_the_login_is_a_jwt(app: ClientApp, read: Read) -> None:
    page = await app.authorize(response_mode="jwt")
    cancelled = await app.browser.submit(page, action="cancel")
    assert (await read(cancelled))["error"] == "access_denied"


async def test_refusing_the_consent_is_a_jwt(
    app_of: Callable[[str], ClientApp], read: Read
) -> None:
    app = app_of("consenting")
    page = await app.login(response_mode="form_post.jwt")
    denied = await app.browser.submit(page, action="deny")
    assert (await read(denied, "consenting"))["error"] == "access_denied"


@pytest.mark.rfc("9126#4")
async def test_a_refusal_of_a_pushed_request_is_a_jwt(app: ClientApp, read: Read) -> None:
    form = app.parameters(response_mode="jwt", prompt="none")
    pushed = await app.service.post("/connect/par", auth="web", **form)  # type: ignore[arg-type]
    query = urlencode({"client_id": "web", "request_uri": pushed["request_uri"]})
    page = await app.browser.get(f"{app.service.issuer}/connect/authorize?{query}")
    assert (await read(page))["error"] == "login_required"


async def test_an_accident_of_the_service_is_a_jwt(
    app: ClientApp, read: Read, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def breaks(*_: object, **__: object) -> None:
        raise ValueError("with a detail")

    monkeypatch.setattr(Parking, "park", breaks)
    claims = await read(await app.authorize(response_mode="jwt"))
    assert claims["error"] == "server_error"


async def test_a_mode_that_is_sent_twice_is_refused_by_the_default_one(app: ClientApp) -> None:
    page = await app.browser.get(app.url(response_mode="jwt") + "&response_mode=query.jwt")
    assert page.url.startswith(app.redirect_uri + "?error=invalid_request")
