"""`require_signed_request_object` at the top level: every client signs its requests (RFC 9101 §10.5)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.service import RunningService
from tests.request_objects.sending import Sender, jwks

pytestmark = pytest.mark.rfc("9101#10.5")


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    for client in config["clients"]:
        client["jwks"] = jwks()
        client.pop("request_object_signing_alg", None)
    return config | {"require_signed_request_object": True}


async def test_discovery_says_so(service: RunningService) -> None:
    for path in ("openid-configuration", "oauth-authorization-server"):
        metadata = await service.get(f"/.well-known/{path}")
        assert metadata["require_signed_request_object"] is True


async def test_a_request_without_an_object_is_refused(web: Sender) -> None:
    page = await web.app.authorize()
    assert (page.status, page.error) == (303, "invalid_request")
    pushed = await web.app.service.post("/connect/par", auth="web", **_form(web))
    assert pushed.refusal == (400, "invalid_request")


async def test_parameters_outside_the_object_do_not_count(web: Sender) -> None:
    page = await web.sign_in(await web.signed(state=None), state="outside")
    assert "code" in page.parameters
    assert "state" not in page.parameters


async def test_an_unsigned_object_is_refused(unsigning: Sender) -> None:
    page = await unsigning.send(unsigning.unsigned(), redirect_uri=unsigning.app.redirect_uri)
    assert page.error == "invalid_request_object"


def _form(sender: Sender) -> dict[str, Any]:
    return {**sender.app.parameters()}
