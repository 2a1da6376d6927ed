"""The request by POST: as by GET, and continued by a GET that carries the cookies (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("openid-core#3.1.2.1")

PATH = "/connect/authorize"


async def post_request(app: ClientApp, **changes: str | None) -> Page:
    """Send the browser there by POST."""
    return await app.browser.post(PATH, app.parameters(**changes))


async def test_a_posted_request_leads_to_the_login(app: ClientApp) -> None:
    page = await post_request(app)
    assert page.path == "/account/login"
    assert "code" in (await app.browser.log_in(page)).parameters


async def test_a_session_counts_though_the_post_came_without_cookies(
    app: ClientApp, service: RunningService
) -> None:
    await app.login()
    form = urlencode(app.parameters(prompt="none"))
    answer = await service.post(PATH, raw=form)
    assert (answer.status, "Set-Cookie" in answer.headers) == (303, False)
    page = await app.browser.get(answer.headers["Location"])
    assert "code" in page.parameters


async def test_a_posted_request_belongs_to_the_first_browser_that_continues_it(
    app: ClientApp, service: RunningService
) -> None:
    answer = await service.post(PATH, raw=urlencode(app.parameters()))
    assert (await app.browser.get(answer.headers["Location"])).has("login")
    stolen = await service.get(answer.headers["Location"])
    assert stolen.status == 400
    assert "Location" not in stolen.headers


async def test_a_posted_request_is_refused_without_a_detour(
    app: ClientApp, service: RunningService
) -> None:
    answer = await service.post(PATH, raw=urlencode(app.parameters(scope="unknown")))
    assert answer.status == 303
    assert answer.headers["Location"].startswith(app.redirect_uri + "?error=invalid_scope")


@pytest.mark.rfc("6749#3.1")
async def test_a_parameter_sent_twice_is_refused(app: ClientApp, service: RunningService) -> None:
    form = urlencode(app.parameters())
    assert (
        "invalid_request" in ((await service.post(PATH, raw=form + "&nonce=2")).headers["Location"])
    )
    assert (await service.post(PATH, raw=form + "&client_id=web")).status == 400


async def test_the_query_of_a_post_does_not_count(service: RunningService) -> None:
    answer = await service.post(f"{PATH}?client_id=web", raw=urlencode({"scope": "openid"}))
    assert answer.status == 400


@pytest.mark.parametrize("content_type", ["application/json", "multipart/form-data", "text/plain"])
async def test_another_content_type_is_refused(service: RunningService, content_type: str) -> None:
    answer = await service.post(PATH, raw="{}", headers={"Content-Type": content_type})
    assert answer.status == 415


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH"])
async def test_another_method_is_refused(service: RunningService, method: str) -> None:
    answer = await service.request(method, PATH)
    assert (answer.status, answer.headers["Allow"]) == (405, "GET,HEAD,POST")


async def test_a_body_that_is_too_large_is_refused(service: RunningService) -> None:
    assert (await service.post(PATH, raw="state=" + "s" * 70000)).status == 413
