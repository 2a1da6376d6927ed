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


async def test_another_response_type_outside_a_pushed_object_does_not_count(web: Sender) -> None:
    request = await web.signed()
    answer = await web.app.service.post(
        "/connect/par", auth="web", request=request, response_type="token", scope="unknown"
    )
    assert answer.status == 201


@pytest.mark.rfc("9101#7")
@pytest.mark.parametrize(
    ("change", "cause"),
    [
        ({"number": 1}, "none of the published keys fits its key id"),
        ({"typ": "at+jwt"}, "its typ is not jwt or oauth-authz-req+jwt"),
        ({"aud": "https://other.example"}, "aud of the request object"),
    ],
    ids=["key", "typ", "aud"],
)
async def test_the_refusal_of_an_object_names_what_is_wrong(
    web: Sender, change: dict[str, Any], cause: str
) -> None:
    request = await web.signed(**change)
    answer = await web.app.service.post("/connect/par", auth="web", request=request)
    assert answer.refusal == (400, "invalid_request_object")
    assert cause in answer["error_description"]


@pytest.mark.rfc("9101#7", "8725#3.1")
async def test_the_refusal_of_an_algorithm_names_those_that_are_accepted(web: Sender) -> None:
    answer = await web.app.service.post("/connect/par", auth="web", request=web.unsigned())
    assert answer.refusal == (400, "invalid_request_object")
    assert "its alg is not one of RS256, RS384" in answer["error_description"]
