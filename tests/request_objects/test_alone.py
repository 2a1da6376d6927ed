"""`require_signed_request_object`: only what is signed counts (RFC 9101 §5, §6.3, §10.5)."""

from __future__ import annotations

import pytest

from tests.driving.service import claims_in
from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("9101#5", "9101#6.3", "9101#10.5")


async def test_a_signed_object_alone_is_a_whole_request(strict: Sender) -> None:
    page = await strict.sign_in(await strict.signed(), response_type=None, scope=None)
    assert "code" in page.parameters


async def test_parameters_outside_the_object_do_not_count(strict: Sender) -> None:
    outside = {"state": "other", "prompt": "none", "max_age": "x", "resource": "x", "nonce": "x"}
    page = await strict.sign_in(await strict.signed(state=None), **outside)
    tokens = await strict.app.redeem(page.parameters["code"])
    assert "state" not in page.parameters
    assert claims_in(tokens["id_token"])["nonce"] == "the-nonce"


async def test_parameters_outside_the_object_fill_no_gap(strict: Sender) -> None:
    request = await strict.signed(code_challenge=None, code_challenge_method=None)
    page = await strict.send(request, code_challenge="x" * 43, code_challenge_method="S256")
    assert (page.error, page.url.startswith(strict.app.redirect_uri)) == ("invalid_request", True)
    page = await strict.send(await strict.signed(scope=None), scope="openid")
    assert page.error == "invalid_scope"


async def test_an_object_without_a_trusted_redirect_uri_is_refused_on_a_page(
    strict: Sender,
) -> None:
    for uri in (None, "https://evil.example/"):
        request = await strict.signed(redirect_uri=uri)
        page = await strict.send(request, redirect_uri=strict.app.redirect_uri)
        assert (page.status, page.error) == (400, "invalid_request")
        assert page.path == "/connect/authorize"


async def test_a_request_without_an_object_is_refused(strict: Sender) -> None:
    page = await strict.app.authorize()
    assert (page.status, page.error) == (303, "invalid_request")
    page = await strict.app.browser.post("/connect/authorize", strict.app.parameters())
    assert page.error == "invalid_request"


async def test_another_response_type_outside_does_not_matter(strict: Sender) -> None:
    page = await strict.send(await strict.signed(), response_type="id_token token")
    assert page.has("login")


@pytest.mark.rfc("9101#10.5")
async def test_a_parked_logout_is_not_taken_for_a_signed_request(strict: Sender) -> None:
    """A request parked by one endpoint is not continued at the other."""
    browser, parameters = strict.app.browser, strict.app.parameters()
    await strict.sign_in(await strict.signed())
    parked = await browser.post("/connect/endsession", parameters)
    assert parked.has("logout-confirm")
    page = await browser.get(f"/account/continue?{parked.url.partition('?')[2]}")
    assert (page.status, page.error) == (400, "invalid_request")
