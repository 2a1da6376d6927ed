"""Any bytes at any endpoint get a quick answer, never a 5xx (RFC 9110 §15.6.1)."""

from __future__ import annotations

import asyncio
import re
from typing import Any
from urllib.parse import quote_from_bytes, urlencode

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.app import create_app
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService, basic

pytestmark = pytest.mark.rfc("9110#15.6.1", "6749#3.2")

CAREFULLY = settings(max_examples=120)
ANSWER_WITHIN = 60

FORM = b"application/x-www-form-urlencoded"
ODD = st.binary(max_size=60)
HEADER_VALUES = st.binary(max_size=60).map(
    lambda value: bytes(one for one in value if one not in b"\r\n\0")
)
WORDS = st.sampled_from(
    [
        *("web", "spa", "api1", "machine", "authorization_code", "password", "refresh_token"),
        *("client_credentials", "delegation", "code", "code id_token token", "openid api1"),
        *("https://web.example/callback", "S256", "x" * 43, "form_post", "login", "none", "alice"),
        *(
            "at_" + "x" * 65,
            "a.b.c",
            "eyJhbGciOiJFUzI1NiIsInR5cCI6W119.e30.AA",
            "idp:x",
            "-1",
            "de",
        ),
    ]
).map(str.encode)
NAMES = st.sampled_from(
    [
        *("client_id", "client_secret", "grant_type", "scope", "code", "redirect_uri", "state"),
        *("code_verifier", "code_challenge", "code_challenge_method", "refresh_token", "token"),
        *("username", "password", "resource", "audience", "response_type", "response_mode"),
        *("nonce", "prompt", "max_age", "id_token_hint", "login_hint", "ui_locales", "acr_values"),
        *("claims", "request", "request_uri", "display", "post_logout_redirect_uri", "csrf"),
        *("client_assertion", "client_assertion_type"),
        *("id", "request_id", "action", "remember", "access_token", "error", "token_type_hint"),
    ]
).map(str.encode)
PARAMETERS = st.lists(st.tuples(NAMES | ODD, WORDS | ODD), max_size=8).map(
    lambda pairs: urlencode(pairs).encode()
)
BODIES = PARAMETERS | PARAMETERS | st.binary(max_size=200)
AUTHORIZATIONS = (
    st.sampled_from([basic("web", "web-secret"), basic("api1", "api1-secret")]).map(str.encode)
    | HEADER_VALUES.map(b"Basic ".__add__)
    | HEADER_VALUES.map(b"Bearer ".__add__)
    | HEADER_VALUES
)
HEADERS = st.fixed_dictionaries(
    {},
    optional={
        b"Content-Type": st.just(FORM) | HEADER_VALUES,
        b"Authorization": AUTHORIZATIONS,
        b"Cookie": HEADER_VALUES | HEADER_VALUES.map(b"sid=".__add__),
        b"Accept": HEADER_VALUES,
        b"Accept-Language": HEADER_VALUES,
        b"Origin": HEADER_VALUES,
        b"X-Forwarded-For": HEADER_VALUES,
        b"Forwarded": HEADER_VALUES,
        b"X-Request-ID": HEADER_VALUES,
        b"Content-Encoding": st.sampled_from([b"gzip", b"deflate", b"br", b"x"]),
    },
)


@pytest.fixture
def routes(service: RunningService) -> tuple[tuple[str, str], ...]:
    """Method and path of everything that is served."""
    app = create_app(service.features.shared.configuration).app
    return tuple(
        (route.method, route.resource.canonical.replace("{", "").replace("}", ""))
        for route in app.router.routes()
        if route.resource is not None
    )


async def answer_to(service: RunningService, request: bytes) -> bytes:
    """Send bytes as they are, and read until the service closes."""
    port = int(service.issuer.rpartition(":")[2])
    request = request.replace(b"Cookie: sid=", b"Cookie: sid_%d=" % port)
    async with asyncio.timeout(ANSWER_WITHIN):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        answer = await reader.read()
        writer.close()
    return answer


def is_no_fault_of_ours(answer: bytes) -> bool:
    """A response, or several, below 500."""
    return (
        answer.startswith(b"HTTP/1.")
        and re.search(rb"^HTTP/1.[01] 5", answer, re.MULTILINE) is None
    )


def request_of(
    method: str, path: str, query: bytes, headers: dict[bytes, bytes], body: bytes
) -> bytes:
    """A well-framed request."""
    target = path.encode() + (b"?" + query if query else b"")
    framing = {b"Host": b"localhost", b"Connection": b"close"}
    if method == "POST":
        framing[b"Content-Length"] = str(len(body)).encode()
    lines = [b": ".join(header) for header in (headers | framing).items()]
    head = method.encode() + b" " + target + b" HTTP/1.1\r\n" + b"\r\n".join(lines)
    return head + b"\r\n\r\n" + (body if method == "POST" else b"")


@CAREFULLY
@given(
    data=st.data(), query=PARAMETERS | ODD.map(quote_from_bytes).map(str.encode), headers=HEADERS
)
async def test_any_query_and_headers_get_an_answer(
    service: RunningService,
    routes: tuple[tuple[str, str], ...],
    data: st.DataObject,
    query: bytes,
    headers: dict[bytes, bytes],
) -> None:
    method, path = data.draw(st.sampled_from(routes))
    answer = await answer_to(service, request_of(method, path, query, headers, b""))
    assert is_no_fault_of_ours(answer), answer


@CAREFULLY
@given(data=st.data(), body=BODIES, headers=HEADERS)
async def test_any_body_gets_an_answer(
    service: RunningService,
    routes: tuple[tuple[str, str], ...],
    data: st.DataObject,
    body: bytes,
    headers: dict[bytes, bytes],
) -> None:
    method, path = data.draw(st.sampled_from([one for one in routes if one[0] == "POST"]))
    sent = {b"Content-Type": FORM} | headers
    answer = await answer_to(service, request_of(method, path, b"", sent, body))
    assert is_no_fault_of_ours(answer), answer


@CAREFULLY
@given(
    request=st.binary(max_size=300) | st.binary(max_size=100).map(b"POST /connect/token ".__add__)
)
async def test_any_bytes_at_all_get_an_answer(service: RunningService, request: bytes) -> None:
    closing = request_of("GET", "/health/live", b"", {}, b"")
    answer = await answer_to(service, request + b"\r\n\r\n" + closing)
    assert is_no_fault_of_ours(answer), answer


@settings(CAREFULLY, max_examples=30)  # a log-in takes time by design
@given(fields=st.dictionaries(NAMES, WORDS | ODD, max_size=6))
async def test_any_fields_at_the_pages_get_an_answer(
    app: ClientApp, fields: dict[bytes, bytes]
) -> None:
    page = await app.authorize()
    text: dict[str, Any] = {
        name.decode(): value.decode("latin-1") for name, value in fields.items()
    }
    answered = await app.browser.submit(page, **text)
    assert answered.status < 500
