"""Any program can send a cookie: what was not set here counts as none (RFC 6265 §8.6)."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from tests.driving.client_app import ClientApp
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
