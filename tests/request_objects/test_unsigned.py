"""Request objects without a signature: only for a client that registered `none` (OIDC Core §6.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.signing import unsigned
from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("openid-core#6.1", "openid-registration#2", "8725#3.2")

REFUSED = "invalid_request_object"


async def test_a_client_registered_for_none_sends_an_unsigned_object(unsigning: Sender) -> None:
    page = await unsigning.sign_in(unsigning.unsigned())
    assert "code" in page.parameters


async def test_an_unsigned_object_of_another_client_is_refused(web: Sender, spa: Sender) -> None:
    for sender in (web, spa):
        page = await sender.send(sender.unsigned(), redirect_uri=sender.app.redirect_uri)
        assert page.error == REFUSED


@pytest.mark.parametrize("alg", ["ES256", "RS256"])
async def test_a_client_registered_for_none_cannot_send_a_signed_object(
    unsigning: Sender, alg: str
) -> None:
    request = await unsigning.signed(alg)
    page = await unsigning.send(request, redirect_uri=unsigning.app.redirect_uri)
    assert page.error == REFUSED


@pytest.mark.rfc("7515#4.1.11", "8725#3.11")
@pytest.mark.parametrize(
    ("header", "signature"),
    [
        ({"alg": "none"}, "AA"),
        ({"alg": "None"}, ""),
        ({"alg": "none", "crit": ["exp"]}, ""),
        ({"alg": "none", "typ": "at+jwt"}, ""),
        ({}, ""),
    ],
    ids=["signature", "spelling", "crit", "typ", "no alg"],
)
async def test_an_unsigned_object_has_alg_none_and_no_critical_header(
    unsigning: Sender, header: dict[str, Any], signature: str
) -> None:
    request = unsigned(header, unsigning.claims()) + signature
    page = await unsigning.send(request, redirect_uri=unsigning.app.redirect_uri)
    assert page.error == REFUSED


async def test_an_unsigned_object_is_checked_like_a_signed_one(unsigning: Sender) -> None:
    request = unsigning.unsigned(aud="https://other.example")
    assert (await unsigning.send(request)).error == REFUSED
