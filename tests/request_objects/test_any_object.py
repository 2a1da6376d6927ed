"""No request object and no assertion causes a server error (RFC 9110 §15.6.1)."""

from __future__ import annotations

from base64 import urlsafe_b64encode
from typing import Any
from urllib.parse import urlencode

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.protocol.token_types import CLIENT_ASSERTION
from tests.clients.signing import key_of, unsigned
from tests.request_objects.sending import Sender

pytestmark = pytest.mark.rfc("9110#15.6.1", "8725#3.11")

CAREFULLY = settings(max_examples=40)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(min_value=-(2**63), max_value=2**63 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=20),
    lambda below: (
        st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=5), below, max_size=3)
    ),
    max_leaves=5,
)
NAMES = st.sampled_from(
    [
        *("iss", "sub", "aud", "exp", "nbf", "iat", "jti", "client_id", "response_type", "scope"),
        *("redirect_uri", "state", "nonce", "prompt", "max_age", "claims", "resource", "display"),
        *("response_mode", "ui_locales", "id_token_hint", "acr_values", "login_hint", "request"),
        *("code_challenge", "code_challenge_method", "registration", "request_uri"),
    ]
)
HEADERS = st.fixed_dictionaries(
    {"alg": st.sampled_from(["none", "ES256", "HS256", "RS256"]) | JSON},
    optional={"typ": JSON, "kid": JSON, "crit": JSON, "enc": JSON, "zip": JSON, "epk": JSON},
)
TEXTS = (
    st.text(max_size=200)
    | st.binary(max_size=200).map(lambda value: value.decode("latin-1"))
    | st.builds(unsigned, HEADERS, st.dictionaries(NAMES, JSON))
    | st.builds(lambda header, dots: unsigned(header, {}) + dots, HEADERS, st.just("..A.A"))
)


async def status_of(sender: Sender, **sent: str) -> int:
    """Return the answer of the authorize endpoint, without following it."""
    url = sender.app.service.issuer + "/connect/authorize?"
    query = urlencode({"client_id": sender.app.client_id, **sent}, errors="surrogatepass")
    async with sender.app.service.http.get(url + query, allow_redirects=False) as answer:
        return answer.status


@CAREFULLY
@given(text=TEXTS)
async def test_any_text_as_a_request_object_gets_an_answer(
    web: Sender, unsigning: Sender, text: str
) -> None:
    for sender in (web, unsigning):
        assert await status_of(sender, request=text) in {200, 303, 400}
        assert await status_of(sender, request_uri=text) in {200, 303, 400}


@CAREFULLY
@given(claims=st.dictionaries(NAMES, JSON, max_size=8))
async def test_any_claims_in_a_request_object_get_an_answer(
    web: Sender, strict: Sender, unsigning: Sender, claims: dict[str, Any]
) -> None:
    signed = await key_of("ES256").sign(claims, typ="JWT")
    for sender in (web, strict):
        assert await status_of(sender, request=signed) in {303, 400}
    object_of_none = unsigned({"alg": "none"}, unsigning.claims() | claims)
    assert await status_of(unsigning, request=object_of_none) in {303, 400}


@CAREFULLY
@given(text=TEXTS, kind=st.just(CLIENT_ASSERTION) | st.text(max_size=20))
async def test_any_text_as_an_assertion_gets_an_answer(web: Sender, text: str, kind: str) -> None:
    form = {"client_assertion": text, "client_assertion_type": kind, "token": "x"}
    raw = urlencode(form, errors="surrogatepass")
    for path in ("/connect/token", "/connect/introspect", "/connect/revocation"):
        assert (await web.app.service.post(path, raw=raw)).status in {400, 401}


@CAREFULLY
@given(claims=st.dictionaries(NAMES, JSON, max_size=8))
async def test_any_claims_in_an_assertion_get_an_answer(
    web: Sender, claims: dict[str, Any]
) -> None:
    named = orjson.loads(orjson.dumps({"iss": "web", "sub": "web"} | claims))
    assertion = await key_of("ES256").sign(named, typ="JWT")
    form: dict[str, Any] = {
        "client_assertion": assertion,
        "client_assertion_type": CLIENT_ASSERTION,
    }
    answer = await web.app.service.post("/connect/token", **form)
    assert answer.status in {400, 401}


async def test_claims_that_are_too_deep_are_refused(unsigning: Sender) -> None:
    head = unsigned({"alg": "none"}, {}).partition(".")[0]
    deep = b'{"claims":' + b'{"a":' * 600 + b"1" + b"}" * 601
    text = f"{head}.{urlsafe_b64encode(deep).rstrip(b'=').decode()}."
    page = await unsigning.send(text, redirect_uri=unsigning.app.redirect_uri)
    assert (page.status, page.error) == (303, "invalid_request_object")
