"""Unforeseen errors are reported without details, at the client or on a page (RFC 6749 §4.1.2.1 server_error)."""

from __future__ import annotations

import pytest

from service.authorize.flow import AuthorizeFlow
from service.authorize.parking import Parking
from tests.driving.client_app import ClientApp

pytestmark = pytest.mark.rfc("6749#4.1.2.1")


class Accident(Exception):
    """Something in our own code."""


async def breaks(*_: object, **__: object) -> None:
    raise Accident("with a detail that is nobody's business")


async def test_the_client_gets_server_error_without_details(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Parking, "park", breaks)
    page = await app.authorize()
    assert page.url.startswith(app.redirect_uri + "?error=server_error")
    assert page.parameters["state"] == "the-state"
    assert "business" not in page.url


async def test_a_page_shows_server_error_without_details(
    app: ClientApp, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = await app.authorize()
    monkeypatch.setattr(AuthorizeFlow, "read", breaks)
    page = await app.browser.get(page.url)
    assert (page.status, page.error) == (500, "server_error")
    assert page.text_of("request-id") == page.headers["X-Request-ID"]
    assert "business" not in page.text
    assert "Accident" not in page.text
