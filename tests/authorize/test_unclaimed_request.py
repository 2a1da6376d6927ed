"""A request that came by POST is nobody's until a browser continues it where it was sent (OIDC Core §3.1.2.1)."""

from __future__ import annotations

from urllib.parse import urlencode, urlsplit

import pytest

from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService


@pytest.fixture
async def unclaimed(app: ClientApp, service: RunningService) -> str:
    """The query of a page about a request that no browser has continued yet."""
    form = urlencode(app.parameters(prompt="login consent"))
    answer = await service.post("/connect/authorize", raw=form)
    return str(urlsplit(answer.headers["Location"]).query)


@pytest.mark.parametrize("path", ["/account/login", "/account/select", "/account/consent"])
async def test_no_page_answers_a_request_that_no_browser_has_claimed(
    browser: Browser, unclaimed: str, path: str
) -> None:
    page = await browser.get(f"{path}?{unclaimed}")
    assert (page.status, page.error) == (400, "invalid_request")


async def test_another_browser_cannot_answer_before_the_user(
    app: ClientApp, unclaimed: str
) -> None:
    theirs = await app.authorize()
    request = unclaimed.removeprefix("request=")
    page = await app.browser.log_in(theirs, "bob", request=request)
    assert (page.status, page.error) == (400, "invalid_request")
