"""Without a client and its own redirect URI, a refusal is a page and leads nowhere (RFC 6749 §4.1.2.1, RFC 9700 §4.11)."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlencode

import pytest

from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration

pytestmark = [
    pytest.mark.rfc("6749#4.1.2.1", "6749#3.1.2.4", "9700#4.11"),
    pytest.mark.usefixtures("one_store"),  # nothing is stored before a refusal
]


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "spa")["enabled"] = False
    configuration["issuer"] = "https://id.example"  # on this machine it would be development
    return configuration


@pytest.mark.parametrize(
    "changes",
    [
        {"client_id": None},
        {"client_id": ""},
        {"client_id": "nobody"},
        {"client_id": "WEB"},
        {"client_id": "spa", "redirect_uri": "https://spa.example/callback"},
        {"client_id": "w" * 257},
        {"client_id": "web\x00"},
        {"redirect_uri": None},
        {"redirect_uri": ""},
        {"redirect_uri": "https://implicit.example/callback"},
        {"redirect_uri": "https://evil.example/"},
        {"redirect_uri": "https://web.example/callback?" + "a" * 2048},
    ],
    ids=[
        "no client_id",
        "empty client_id",
        "unknown client",
        "another case",
        "disabled client",
        "over-long client_id",
        "NUL in client_id",
        "no redirect_uri",
        "empty redirect_uri",
        "another client's",
        "unregistered",
        "over-long redirect_uri",
    ],
)
async def test_a_request_without_a_trusted_redirect_uri_is_refused_on_a_page(
    app: ClientApp, changes: dict[str, str | None]
) -> None:
    assert_is_error_page(await app.authorize(**changes))


@pytest.mark.parametrize("name", ["client_id", "redirect_uri"])
@pytest.mark.parametrize("second", ["same", "another", ""])
async def test_client_id_and_redirect_uri_are_refused_when_sent_twice(
    app: ClientApp, name: str, second: str
) -> None:
    value = app.parameters()[name] if second == "same" else second
    assert_is_error_page(await app.browser.get(f"{app.url()}&{urlencode({name: value})}"))


async def test_a_malformed_query_is_refused_on_a_page(browser: Browser, app: ClientApp) -> None:
    assert_is_error_page(await browser.get(app.url() + "&state=%ff%fe"))


async def test_another_fault_does_not_make_a_redirect_uri_trusted(app: ClientApp) -> None:
    page = await app.authorize(redirect_uri="https://evil.example/", response_type=None, scope="x")
    assert_is_error_page(page)


async def test_a_post_without_a_trusted_redirect_uri_is_refused_on_a_page(app: ClientApp) -> None:
    parameters = app.parameters(redirect_uri="https://evil.example/")
    assert_is_error_page(await app.browser.post("/connect/authorize", parameters))


async def test_the_error_page_shows_the_request_id_of_the_logs(app: ClientApp) -> None:
    page = await app.browser.get(app.url(client_id="nobody"), headers={"X-Request-ID": "abc-123"})
    assert page.text_of("request-id") == page.headers["X-Request-ID"] == "abc-123"


async def test_the_error_page_echoes_nothing_of_the_request(app: ClientApp) -> None:
    page = await app.authorize(client_id="<script>alert(1)</script>", state="a-telling-state")
    assert "alert(1)" not in page.text
    assert "a-telling-state" not in page.text


def assert_is_error_page(page: Page) -> None:
    """Check for status 400, the error for developers, and no link out of the page."""
    assert (page.status, page.error) == (400, "invalid_request")
    assert page.text_of("error-description")
    assert page.text_of("request-id") == page.headers["X-Request-ID"]
    assert "Location" not in page.headers
    assert not page.leads_out
    assert "evil.example" not in page.content
