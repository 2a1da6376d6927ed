"""A request object that is pushed counts alone (RFC 9126 §3)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("9126#3")


async def test_only_the_members_of_a_pushed_object_count(web: Sender) -> None:
    app = web.app
    request = await web.signed(state="inside")
    pushed = await app.service.post(
        "/connect/par", auth="web", request=request, state="outside", login_hint="outside"
    )
    query = urlencode({"client_id": "web", "request_uri": pushed["request_uri"]})
    page = await app.browser.get(f"/connect/authorize?{query}")
    assert not page.element("username")["value"]
    assert (await app.browser.log_in(page)).parameters["state"] == "inside"


async def test_another_response_type_outside_a_pushed_object_does_not_count(web: Sender) -> None:
    request = await web.signed()
    answer = await web.app.service.post(
        "/connect/par", auth="web", request=request, response_type="token", scope="unknown"
    )
    assert answer.status == 201
