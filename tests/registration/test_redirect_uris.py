"""Safe redirect URIs can be registered (RFC 7591 §2, §5, OpenID Connect Registration §2, RFC 8252 §7)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.driving.registering import register
from tests.driving.service import RunningService

pytestmark = [
    pytest.mark.rfc("7591#3.2.2", "openid-registration#2"),
    pytest.mark.usefixtures("one_store"),  # nothing is stored before a refusal
]

NATIVE = {"application_type": "native", "token_endpoint_auth_method": "none"}
IMPLICIT = {"grant_types": ["implicit"], "response_types": ["id_token"]}

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "a fragment": ("https://a.example/cb#top", {}),
    "an empty fragment": ("https://a.example/cb#", {}),
    "no scheme": ("a.example/cb", {}),
    "no host": ("https:///cb", {}),
    "nothing": ("", {}),
    "http": ("http://a.example/cb", {}),
    "a wildcard": ("https://*.example/cb", {}),
    "a user": ("https://user@a.example/cb", {}),
    "javascript": ("javascript:alert(1)", {}),
    "javascript of a native one": ("javascript:alert(1)", NATIVE),
    "data": ("data:text/html,hello", NATIVE),
    "a space": ("https://a.example/c b", {}),
    "a port that is none": ("https://a.example:99999/cb", {}),
    "a private scheme": ("com.example.app:/cb", {}),
    "a scheme without a dot": ("myapp:/cb", NATIVE),
    "http of a native one": ("http://a.example/cb", NATIVE),
    "loopback with implicit": ("http://localhost:3000/cb", IMPLICIT),
    "localhost by https with implicit": ("https://localhost/cb", IMPLICIT),
    "a long one": ("https://a.example/" + "x" * 2048, {}),
}
ACCEPTED: dict[str, tuple[str, dict[str, Any]]] = {
    "https": ("https://a.example/cb", {}),
    "a query": ("https://a.example/cb?tenant=1", {}),
    "loopback": ("http://localhost:3000/cb", {}),
    "a private scheme of a native one": ("com.example.app:/cb", NATIVE),
    "loopback of a native one": ("http://127.0.0.1/cb", NATIVE),
    "loopback of a native one by IPv6": ("http://[::1]/cb", NATIVE),
    "https of a native one": ("https://a.example/cb", NATIVE),
    "https with implicit": ("https://a.example/cb", IMPLICIT),
}


@pytest.mark.parametrize(("uri", "metadata"), REFUSED.values(), ids=REFUSED)
async def test_an_unsafe_redirect_uri_is_refused_by_name(
    service: RunningService, uri: str, metadata: dict[str, Any]
) -> None:
    answer = await register(service, redirect_uris=["https://ok.example/cb", uri], **metadata)
    assert answer.refusal == (400, "invalid_redirect_uri")
    assert "redirect_uris" in answer["error_description"]


@pytest.mark.parametrize(("uri", "metadata"), ACCEPTED.values(), ids=ACCEPTED)
async def test_a_safe_redirect_uri_is_registered_unchanged(
    service: RunningService, uri: str, metadata: dict[str, Any]
) -> None:
    answer = await register(service, redirect_uris=[uri], **metadata)
    assert (answer.status, answer["redirect_uris"]) == (201, [uri])


@pytest.mark.parametrize("missing", [None, [], "https://a.example/cb", {}, [1], [None]], ids=repr)
async def test_a_client_that_redirects_needs_a_redirect_uri(
    service: RunningService, missing: object
) -> None:
    answer = await register(service, redirect_uris=missing)
    assert answer.refusal == (400, "invalid_redirect_uri")


async def test_too_many_redirect_uris_are_refused(service: RunningService) -> None:
    uris = [f"https://a.example/{at}" for at in range(101)]
    answer = await register(service, redirect_uris=uris)
    assert answer.refusal == (400, "invalid_redirect_uri")
