"""Request objects without a signature: only for a client that registered `none` (OIDC Core §6.1)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.clients.signing import unsigned
from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("openid-core#6.1", "openid-registration#2", "8725#3.2")

REFUSED = "invalid_request_object"


async def test_who_registered_none_need_not_sign(unsigning: Sender) -> None:
    page = await unsigning.sign_in(unsigning.unsigned())
    assert "code" in page.parameters


async def test_nobody_else_may_leave_the_signature_out(web: Sender, spa: Sender) -> None:
    for sender in (web, spa):
        page = await sender.send(sender.unsigned(), redirect_uri=sender.app.redirect_uri)
        assert page.error == REFUSED


@pytest.mark.parametrize("alg", ["ES256", "RS256"])
async def test_who_registered_none_does_not_sign(unsigning: Sender, alg: str) -> None:
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
async def test_it_says_so_and_nothing_odd(
    unsigning: Sender, header: dict[str, Any], signature: str
) -> None:
    request = unsigned(header, unsigning.claims()) + signature
    page = await unsigning.send(request, redirect_uri=unsigning.app.redirect_uri)
    assert page.error == REFUSED


async def test_what_it_says_is_checked_as_if_it_were_signed(unsigning: Sender) -> None:
    request = unsigning.unsigned(aud="https://other.example")
    assert (await unsigning.send(request)).error == REFUSED
