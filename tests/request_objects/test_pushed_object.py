"""A request object that is pushed counts alone (RFC 9126 §3)."""

from __future__ import annotations

from typing import Any
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


async def test_an_object_that_is_not_signed_by_the_client_is_refused(web: Sender) -> None:
    request = await web.signed(number=1)
    answer = await web.app.service.post("/connect/par", auth="web", request=request)
    assert answer.refusal == (400, "invalid_request_object")


async def test_another_response_type_outside_a_pushed_object_does_not_count(web: Sender) -> None:
    request = await web.signed()
    answer = await web.app.service.post(
        "/connect/par", auth="web", request=request, response_type="token", scope="unknown"
    )
    assert answer.status == 201


@pytest.mark.rfc("9101#5")
async def test_a_client_id_inside_must_be_that_of_the_client(web: Sender) -> None:
    request = await web.signed(client_id="spa")
    answer = await web.app.service.post("/connect/par", auth="web", request=request)
    assert answer.refusal == (400, "invalid_request_object")


@pytest.mark.rfc("9101#4")
@pytest.mark.parametrize("name", ["request", "request_uri"])
async def test_a_pushed_object_holds_no_other_one(web: Sender, name: str) -> None:
    inside: dict[str, Any] = {name: "https://web.example/request"}
    request = await web.signed(**inside)
    answer = await web.app.service.post("/connect/par", auth="web", request=request)
    assert answer.refusal == (400, "invalid_request_object")
