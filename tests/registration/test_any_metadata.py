"""Any JSON at the registration endpoint is registered or refused, and never a server error (RFC 7591 §3.2.2)."""

from __future__ import annotations

from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.model.client_metadata import registered_names
from service.protocol import paths
from tests.driving.browser import Browser
from tests.driving.registering import RegisteredApp, bearer
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7591#3.2.2")

CAREFULLY = settings(max_examples=150)
WORDS = st.sampled_from(
    [
        *("https://a.example/cb", "https://b.example/cb", "http://127.0.0.1/cb", "com.example:/cb"),
        *("authorization_code", "implicit", "refresh_token", "client_credentials", "password"),
        *("code", "id_token", "code id_token", "none", "client_secret_jwt", "private_key_jwt"),
        *("RS256", "ES256", "HS256", "HS512", "RSA-OAEP", "dir", "A128GCM", "web", "native"),
        *("pairwise", "public", "openid api1", "offline_access", "javascript:alert(1)", "http://["),
    ]
)
LEAVES = (
    WORDS
    | st.text(max_size=20)
    | st.booleans()
    | st.none()
    | st.integers(min_value=-(2**63), max_value=2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
)
ANY = st.recursive(
    LEAVES,
    lambda below: (
        st.lists(below, max_size=4) | st.dictionaries(st.text(max_size=8), below, max_size=3)
    ),
    max_leaves=6,
)
NAMES = st.sampled_from(
    sorted(
        {
            *registered_names(),
            "scope",
            "software_statement",
            "client_name#de",
            "logo_uri#x",
            "client_id",
        }
    )
)
VALUES = WORDS | st.lists(WORDS, max_size=3) | ANY
METADATA = st.dictionaries(NAMES | st.text(max_size=8), VALUES, max_size=6)
USUAL = {"redirect_uris": ["https://a.example/cb"]}


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    """Pairwise subjects can be made, too."""
    return config | {"pairwise_salt": "a salt that nobody can guess"}


@pytest.fixture(autouse=True)
def _no_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.app.OPEN_PER_MINUTE", 10**9)


@CAREFULLY
@given(asked=ANY | METADATA | METADATA.map(USUAL.__or__))
async def test_any_json_is_registered_or_refused(service: RunningService, asked: Any) -> None:
    sent = {"Content-Type": "application/json"}
    body = orjson.dumps(asked, default=str)
    answer = await service.request("POST", paths.REGISTER, data=body, headers=sent)
    if answer.status == 201:
        assert await service.features.clients.find(answer["client_id"]) is not None
    else:
        assert 400 <= answer.status < 500
        assert answer.error
        assert answer["error_description"]


@CAREFULLY
@given(asked=ANY | METADATA | METADATA.map(USUAL.__or__))
async def test_any_json_changes_the_client_or_is_refused(
    service: RunningService, browser: Browser, asked: Any
) -> None:
    client = await RegisteredApp.register(service, browser)
    if isinstance(asked, dict):
        asked = asked | {"client_id": client.client_id}
    token = client.registered["registration_access_token"]
    sent = {"Content-Type": "application/json"} | bearer(token)
    answer = await service.request("PUT", client.path, data=orjson.dumps(asked), headers=sent)
    assert answer.status == 200 or answer.error
    assert answer.status < 500
    assert (await client.manage("GET")).status == 200


@pytest.mark.parametrize(
    "value",
    [b'{"a":' * 300 + b"1" + b"}" * 300, b"[" * 300 + b"]" * 300, b"1" + b"0" * 40, b"1" * 5000],
    ids=["deep objects", "deep arrays", "a large number", "a very large number"],
)
@pytest.mark.parametrize("name", ["jwks", "contacts", "default_max_age", "client_name#de", "x"])
async def test_unusual_json_is_refused_or_ignored(
    service: RunningService, name: str, value: bytes
) -> None:
    value = b'{"keys":[{"kty":"EC","x":%s}]}' % value if name == "jwks" else value
    body = b'{"redirect_uris":["https://a.example/cb"],"%s":%s}' % (name.encode(), value)
    sent = {"Content-Type": "application/json"}
    answer = await service.request("POST", paths.REGISTER, data=body, headers=sent)
    assert answer.status in ({201, 400} if name == "x" else {400})
