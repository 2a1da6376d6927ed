"""Safe redirect URIs can be registered (RFC 7591 §2, §5, OpenID Connect Registration §2, RFC 8252 §7)."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from structlog.testing import capture_logs

from tests.driving.registering import RegisteredApp, register
from tests.driving.service import RunningService

pytestmark = [
    pytest.mark.rfc("7591#3.2.2", "openid-registration#2"),
    pytest.mark.usefixtures("one_store"),  # nothing is stored before a refusal
]

NATIVE = {"application_type": "native", "token_endpoint_auth_method": "none"}
WEB = {"application_type": "web"}
IMPLICIT = {"grant_types": ["implicit"], "response_types": ["id_token"]}

REFUSED: dict[str, tuple[str, dict[str, Any]]] = {
    "a fragment": ("https://a.example/cb#top", {}),
    "an empty fragment": ("https://a.example/cb#", {}),
    "no scheme": ("a.example/cb", {}),
    "no host": ("https:///cb", {}),
    "http": ("http://a.example/cb", {}),
    "a wildcard": ("https://*.example/cb", {}),
    "a user": ("https://user@a.example/cb", {}),
    "javascript": ("javascript:alert(1)", {}),
    "javascript of a native one": ("javascript:alert(1)", NATIVE),
    "livescript": ("livescript:alert(1)", NATIVE),
    "a page within an archive": ("mhtml:https://a.example/x!y", NATIVE),
    "a resource of the browser": ("resource://app/x", NATIVE),
    "a file of another application": ("content://com.example/x", NATIVE),
    "data": ("data:text/html,hello", NATIVE),
    "a space": ("https://a.example/c b", {}),
    "a port that is none": ("https://a.example:99999/cb", {}),
    "a private scheme of a web application": ("com.example.app:/cb", WEB),
    "a scheme of the system": ("ms-msdt:/cb", NATIVE),
    "a scheme of telephones": ("tel:112", NATIVE),
    "a page that shows the code": ("urn:ietf:wg:oauth:2.0:oob", NATIVE),
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
    "a scheme without a dot": ("cursor://anysphere.cursor-mcp/oauth/callback", NATIVE),
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


@pytest.mark.rfc("8252#7.1", "7591#3.2.1")
async def test_a_client_with_a_scheme_of_its_own_is_native_unless_it_says_otherwise(
    service: RunningService,
) -> None:
    """MCP clients follow RFC 7591, which has no application_type."""
    uris = ["http://127.0.0.1/cb", "vscode://ms-vscode.mcp/cb"]
    answer = await register(service, redirect_uris=uris, token_endpoint_auth_method="none")
    assert (answer.status, answer["application_type"]) == (201, "native")


@pytest.mark.rfc("8252#7.1")
@pytest.mark.parametrize(("uri", "warned"), [("vscode://x/cb", 1), ("com.example.app:/cb", 0)])
async def test_a_scheme_without_a_dot_is_a_warning_in_the_log(
    service: RunningService, uri: str, warned: int
) -> None:
    with capture_logs() as lines:
        answer = await register(service, redirect_uris=[uri], **NATIVE)
    found = [(one["client_id"], one["scheme"]) for one in lines if "scheme" in one]
    assert found == [(answer["client_id"], "vscode")] * warned


@pytest.mark.rfc("7591#5")
async def test_the_answer_goes_to_a_scheme_and_not_to_a_host_that_looks_like_another(
    registering: Callable[..., Awaitable[RegisteredApp]],
) -> None:
    client = await registering(redirect_uris=["myapp://bank.example/cb"], **NATIVE)
    page = await client.authorize()
    assert "myapp:" in page.text_of("stranger")
    assert "bank.example" not in page.text_of("stranger")
