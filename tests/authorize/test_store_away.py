"""Trouble with the store: told to the client once it is trusted, else on a page (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import fresh_configuration

pytestmark = pytest.mark.rfc("6749#4.1.2.1")

Mortal = tuple[str, subprocess.Popen[bytes]]


@pytest.fixture
def config(mortal_redis: Mortal) -> dict[str, Any]:
    return fresh_configuration() | {"store": {"url": mortal_redis[0]}}


def assert_is_told_on_a_page(page: Page) -> None:
    """503, and when to come back."""
    assert (page.status, page.error) == (503, "temporarily_unavailable")
    assert int(page.headers["Retry-After"]) > 0
    assert "redis" not in page.text.lower()


@pytest.mark.parametrize("signed_in", [False, True])
async def test_a_trusted_client_gets_temporarily_unavailable(
    app: ClientApp, mortal_redis: Mortal, signed_in: bool
) -> None:
    if signed_in:
        await app.login()
    mortal_redis[1].kill()
    page = await app.authorize()
    assert page.url.startswith(app.redirect_uri + "?error=temporarily_unavailable")
    assert page.parameters["state"] == "the-state"


async def test_a_trusted_client_gets_temporarily_unavailable_after_a_post(
    app: ClientApp, mortal_redis: Mortal
) -> None:
    mortal_redis[1].kill()
    page = await app.browser.post("/connect/authorize", app.parameters())
    assert page.url.startswith(app.redirect_uri + "?error=temporarily_unavailable")


async def test_untrusted_client_is_refused_while_the_store_is_unavailable(
    app: ClientApp, mortal_redis: Mortal
) -> None:
    mortal_redis[1].kill()
    assert (await app.authorize(client_id="nobody")).status == 400


async def test_a_page_that_cannot_read_its_request_is_unavailable(
    app: ClientApp, mortal_redis: Mortal
) -> None:
    page = await app.authorize()
    mortal_redis[1].kill()
    assert_is_told_on_a_page(await app.browser.get(page.url))
    assert_is_told_on_a_page(await app.browser.log_in(page))


async def test_user_stays_signed_in_while_the_store_is_unavailable(
    app: ClientApp, mortal_redis: Mortal
) -> None:
    await app.login()
    before = app.browser.cookies
    mortal_redis[1].kill()
    assert_is_told_on_a_page(await app.browser.get("/account/login"))
    assert app.browser.cookies == before
