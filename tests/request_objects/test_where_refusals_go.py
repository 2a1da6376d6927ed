"""A request object is refused at a trusted redirect URI, or on a page (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("6749#4.1.2.1", "openid-core#3.1.2.6", "9101#7")

REFUSED = "invalid_request_object"


async def test_an_object_that_cannot_be_verified_is_refused_at_the_sent_redirect_uri(
    web: Sender,
) -> None:
    outside = {"redirect_uri": web.app.redirect_uri, "state": "outside"}
    page = await web.send(await web.signed(number=1), **outside)
    assert (page.status, page.error) == (303, REFUSED)
    assert page.parameters["state"] == "outside"
    assert page.parameters["iss"] == web.app.service.issuer


@pytest.mark.parametrize("outside", [None, "https://evil.example/"])
async def test_a_verified_but_wrong_object_is_refused_at_its_own_redirect_uri(
    web: Sender, outside: str | None
) -> None:
    request = await web.signed(exp=timedelta(minutes=-5), response_mode="fragment")
    page = await web.send(request, redirect_uri=outside, state="outside")
    assert page.url.startswith(web.app.redirect_uri + "#")
    assert (page.error, page.parameters["state"]) == (REFUSED, "the-state")


@pytest.mark.parametrize(
    "wrong",
    [
        {"exp": timedelta(minutes=-5)},
        {"nbf": timedelta(minutes=5)},
        {"iss": "somebody"},
        {"aud": "https://elsewhere.example"},
        {"state": 5},
    ],
    ids=lambda wrong: next(iter(wrong)),
)
async def test_every_refused_object_is_a_line_of_the_log(web: Sender, wrong: Any) -> None:
    request = await web.signed(**wrong)
    with capture_logs() as lines:
        page = await web.send(request)
    assert page.error == REFUSED
    logged = [one for one in lines if one["event"] == "request object refused"]
    assert [one["client_id"] for one in logged] == ["web"]
    assert logged[0]["reason"] == page.parameters["error_description"]


async def test_an_object_with_a_wrong_type_is_refused_where_its_other_members_say(
    web: Sender,
) -> None:
    page = await web.send(await web.signed(state=5, response_mode="fragment"))
    assert page.url.startswith(web.app.redirect_uri + "#")
    assert page.error == REFUSED
    assert "state" not in page.parameters


@pytest.mark.parametrize("wrong", [{"max_age": True}, {"resource": ["api1", 5]}], ids=str)
async def test_an_object_with_a_boolean_or_a_number_for_another_type_is_refused(
    web: Sender, wrong: dict[str, Any]
) -> None:
    page = await web.send(await web.signed(**wrong))
    assert (page.status, page.error) == (303, REFUSED)


async def test_an_object_whose_redirect_uri_has_a_wrong_type_is_refused_on_a_page(
    web: Sender,
) -> None:
    page = await web.send(await web.signed(redirect_uri=[web.app.redirect_uri]))
    assert (page.status, page.error) == (400, REFUSED)


async def test_a_refusal_of_what_is_asked_goes_where_the_object_says(web: Sender) -> None:
    page = await web.send(await web.signed(scope="openid unheard-of", response_mode="form_post"))
    assert (page.error, page.parameters["state"]) == ("invalid_scope", "the-state")


@pytest.mark.parametrize("number", [0, 1])
async def test_a_posted_object_is_refused_at_the_same_place(web: Sender, number: int) -> None:
    form = {
        "client_id": "web",
        "redirect_uri": web.app.redirect_uri,
        "request": await web.signed(number=number, iss="spa"),
    }
    page = await web.app.browser.post("/connect/authorize", form)
    assert (page.status, page.error) == (303, REFUSED)
