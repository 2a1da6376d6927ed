"""However often a pushed request comes at once, at however many replicas, one answer goes to the client (RFC 9126 §4)."""

from __future__ import annotations

import asyncio
from typing import Any
from urllib.parse import urlencode

import pytest

from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

AT_ONCE = 200


@pytest.mark.rfc("9126#4")
async def test_one_of_many_requests_gets_the_code(
    replicas: list[RunningService],
) -> None:
    browser = Browser(replicas[0].issuer)
    app = ClientApp(replicas[0], browser)
    await app.login()
    form: dict[str, Any] = app.parameters()
    pushed = await app.service.post("/connect/par", auth="web", **form)
    query = urlencode({"client_id": "web", "request_uri": pushed["request_uri"]})
    headers = {"Cookie": browser.cookie_header}
    answers = await asyncio.gather(
        *(
            replicas[n % len(replicas)].get(f"/connect/authorize?{query}", headers=headers)
            for n in range(AT_ONCE)
        )
    )
    codes = [each for each in answers if "code=" in each.headers.get("Location", "")]
    refused = [each for each in answers if each.status == 400]
    assert (len(codes), len(refused)) == (1, AT_ONCE - 1)
    await browser.close()
