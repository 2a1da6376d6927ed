"""Any program can send a cookie: what was not set here counts as none (RFC 6265 §8.6)."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.raw import exchange
from tests.driving.service import RunningService

ODD = {
    "bytes that are no UTF-8": '"\udcff"',
    "a control character": '"a\\015b"',
    "too long": "x" * 129,
    "empty": "",
}


@pytest.mark.parametrize("value", ODD.values(), ids=ODD)
async def test_a_malformed_cookie_counts_as_absent(
    app: ClientApp, service: RunningService, value: str
) -> None:
    port = urlsplit(service.issuer).port
    cookies = {"Cookie": f"browser_{port}={value}; sid_{port}={value}"}
    answer = await service.get("/connect/authorize?" + app.url().partition("?")[2], headers=cookies)
    assert answer.status == 303
    assert answer.headers["Location"].startswith("/account/login?")
    assert answer.headers["Set-Cookie"].startswith(f"browser_{port}=")


@pytest.mark.parametrize("before", ["\u2000", "\u00a0", "\u0085"], ids=ascii)
@pytest.mark.parametrize("pieces", [1, 2], ids=["whole", "in pieces"])
async def test_a_cookie_counts_only_under_its_exact_name(
    app: ClientApp, service: RunningService, before: str, pieces: int
) -> None:
    """Another site of the domain may set one that looks like `__Host-` behind a space of Unicode, which browsers take."""
    await app.login()
    sent = [f"{one.key}={one.value}" for one in app.browser.session.cookie_jar]
    assert b"code=" in await _authorize(app, service, sent, pieces)
    tossed = [f"{before}{one}" for one in sent]
    assert b"\r\nLocation: /account/login?" in await _authorize(app, service, tossed, pieces)


@pytest.mark.parametrize("pieces", [1, 2], ids=["whole", "in pieces"])
async def test_cookies_of_several_fields_count_as_those_of_one(
    app: ClientApp, service: RunningService, pieces: int
) -> None:
    """A proxy may pass them on as HTTP/2 has sent them (RFC 9113 §8.2.3)."""
    await app.login()
    sent = [f"{one.key}={one.value}" for one in app.browser.session.cookie_jar]
    assert b"code=" in await _authorize(app, service, sent, pieces, between="\r\nCookie: ")


async def _authorize(
    app: ClientApp,
    service: RunningService,
    cookies: list[str],
    pieces: int,
    between: str = "; ",
) -> bytes:
    """Ask for a code, and let the service close the connection after the answer."""
    target = "/connect/authorize?" + app.url().partition("?")[2]
    port, host = urlsplit(service.issuer).port, "Host: localhost"
    sent = between.join(cookies)
    head = f"GET {target} HTTP/1.1\r\n{host}\r\nCookie: {sent}\r\n\r\n".encode()
    last = f"GET /health/live HTTP/1.1\r\n{host}\r\nConnection: close\r\n\r\n".encode()
    parts = [head] if pieces == 1 else [head[:40], head[40:]]
    return await exchange(port, *parts, last)
