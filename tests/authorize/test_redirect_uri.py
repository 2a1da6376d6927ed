"""A redirect URI is compared character by character; a native app's loopback port may vary (RFC 9700 §2.1, RFC 8252 §7.3)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration

pytestmark = pytest.mark.usefixtures("one_store")  # it is compared before anything is stored


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    client_in(configuration, "implicit")["redirect_uris"] += ["http://127.0.0.1:1/callback"]
    client_in(configuration, "native")["redirect_uris"] += [
        *("http://localhost/callback", "http://localhost:3000/at-one-port"),
    ]
    client_in(configuration, "web")["redirect_uris"] += ["https://web.example/a%2Fb"]
    return configuration


@pytest.mark.rfc("9700#2.1", "6749#3.1.2.3")
@pytest.mark.parametrize(
    "redirect_uri",
    [
        "https://web.example/callback/",
        "https://web.example/Callback",
        "https://WEB.example/callback",
        "HTTPS://web.example/callback",
        "https://web.example:443/callback",
        "http://web.example/callback",
        "https://web.example/callback?",
        "https://web.example/callback?tenant=2",
        "https://web.example/callback?tenant=1&more=1",
        "https://web.example/callback#fragment",
        "https://web.example/%63allback",
        "https://web.example/x/../callback",
        "https://web.example//callback",
        "https://web.example/callback ",
        " https://web.example/callback",
        "https://web.example/callback\r\n",
        "https://user@web.example/callback",
        "https://web.example.evil.example/callback",
        "https://web.example/a/b",
        "https://web.example/a%252Fb",
        "//web.example/callback",
        "/callback",
    ],
)
async def test_a_redirect_uri_that_differs_in_one_character_is_refused(
    app: ClientApp, redirect_uri: str
) -> None:
    page = await app.authorize(redirect_uri=redirect_uri)
    assert (page.status, page.error) == (400, "invalid_request")


@pytest.mark.rfc("9700#2.1")
@pytest.mark.parametrize(
    "redirect_uri", ["https://web.example/callback?tenant=1", "https://web.example/a%2Fb"]
)
async def test_a_registered_redirect_uri_is_used_unchanged(
    app: ClientApp, redirect_uri: str
) -> None:
    page = await app.login(redirect_uri=redirect_uri)
    assert page.url.startswith(redirect_uri)
    assert "code" in page.parameters


@pytest.mark.rfc("6749#3.1.2")
async def test_the_query_of_a_redirect_uri_is_kept(app: ClientApp) -> None:
    page = await app.login(redirect_uri="https://web.example/callback?tenant=1")
    assert page.url.startswith("https://web.example/callback?tenant=1&code=")
    assert page.parameters["tenant"] == "1"


@pytest.mark.rfc("6749#B")
async def test_a_redirect_uri_is_decoded_exactly_once(app: ClientApp) -> None:
    doubly = urlencode({"redirect_uri": app.redirect_uri.replace("/", "%2F")})
    url = app.url(redirect_uri=None) + "&" + doubly
    assert (await app.browser.get(url)).status == 400


@pytest.mark.rfc("8252#7.3")
@pytest.mark.parametrize(
    "redirect_uri",
    [
        "http://127.0.0.1:1/callback",
        "http://127.0.0.1:51004/callback",
        "http://127.0.0.1/callback",
        "http://[::1]:51004/callback",
        "http://localhost/callback",
        "http://localhost:51004/callback",
        "http://localhost:3000/at-one-port",
    ],
)
async def test_a_public_clients_loopback_port_may_vary(
    app_of: Callable[[str], ClientApp], redirect_uri: str
) -> None:
    page = await app_of("native").login(redirect_uri=redirect_uri)
    assert page.url.startswith(redirect_uri + "?code=")


@pytest.mark.rfc("8252#7.3", "8252#8.3")
@pytest.mark.parametrize(
    "redirect_uri",
    [
        "http://localhost:3001/at-one-port",
        "http://localhost/at-one-port",
        "http://localhost.evil.example:1/callback",
        "https://localhost:51004/callback",
        "http://localhost:51004/callback/",
        "http://127.0.0.1:51004/other",
        "http://127.0.0.2:1/callback",
        "https://127.0.0.1:51004/callback",
        "http://127.0.0.1:51004@evil.example/callback",
        "http://127.0.0.1:99999/callback",
        "http://127.0.0.1:/callback",
        "http://[::1]:51004/callback/",
        "http://[0:0:0:0:0:0:0:1]:51004/callback",
    ],
)
async def test_only_the_port_of_a_loopback_uri_may_vary(
    app_of: Callable[[str], ClientApp], redirect_uri: str
) -> None:
    assert (await app_of("native").authorize(redirect_uri=redirect_uri)).status == 400


@pytest.mark.rfc("8252#8.4")
async def test_a_confidential_clients_loopback_port_may_not_vary(
    app_of: Callable[[str], ClientApp],
) -> None:
    implicit = app_of("implicit")
    assert (await implicit.authorize(redirect_uri="http://127.0.0.1:1/callback")).status == 200
    assert (await implicit.authorize(redirect_uri="http://127.0.0.1:2/callback")).status == 400
