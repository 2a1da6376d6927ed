"""Whatever a parameter holds, the answer is a page, a redirect or a 4xx, and quick (ASVS 2.2, RFC 6749 §10.14)."""

from __future__ import annotations

from urllib.parse import urlencode

import pytest

from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("6749#10.14")

NASTY = [
    "\x00",
    "a\r\nSet-Cookie: a=b",
    "\x7f\x1b[31m",
    "\ud7ff\ue000\U0010ffff",
    "\u202egnp.exe",
    "'\"><svg onload=alert(1)>",
    "{{7*7}}${7*7}{%x%}",
    "../../../../etc/passwd",
    "-",
    "_",
    "de-;q=x",
    "9" * 200,
    "[" * 2000,
    '{"a":' * 500,
    "eyJhbGciOiJub25lIn0.e30.",
    "eyJhbGciOiJFUzI1NiIsInR5cCI6IkpXVCJ9.e30.AAAA",
    "a.b.c.d.e",
    "ts:{x}:az",
    " " * 300,
]
PARAMETERS = [
    "response_type",
    "response_mode",
    "scope",
    "state",
    "nonce",
    "prompt",
    "max_age",
    "id_token_hint",
    "login_hint",
    "ui_locales",
    "display",
    "acr_values",
    "claims",
    "claims_locales",
    "resource",
    "code_challenge",
    "code_challenge_method",
    "client_id",
    "redirect_uri",
    "client_secret",
    "\x00name",
]


@pytest.mark.parametrize("name", PARAMETERS)
async def test_no_parameter_value_is_a_server_error(
    app: ClientApp, service: RunningService, name: str
) -> None:
    for value in NASTY:
        query = urlencode(app.parameters(**{name: value}))
        by_get = await service.get(f"/connect/authorize?{query}")
        by_post = await service.post("/connect/authorize", raw=query)
        assert (by_get.status, by_post.status) in {(200, 200), (303, 303), (400, 400)}, value
        assert "Set-Cookie: a=b" not in str(by_get.headers)


@pytest.mark.parametrize("path", ["/account/login", "/account/select", "/account/consent"])
@pytest.mark.parametrize("header", ["Accept-Language", "Cookie", "User-Agent", "X-Forwarded-For"])
async def test_no_header_is_a_server_error(service: RunningService, path: str, header: str) -> None:
    for value in NASTY:
        if value.isprintable():
            sent = {header: value.encode().decode("latin-1")}
            answer = await service.get(path, headers=sent)
            assert answer.status in {200, 400}, value


@pytest.mark.parametrize(
    "query", ["%", "%zz", "&&&", "=", "a" * 60_000, "a&" * 300, "client_id=%C3%28", "client_id[]=x"]
)
async def test_no_query_is_a_server_error(service: RunningService, query: str) -> None:
    for path in ("/connect/authorize", "/account/login", "/account/continue"):
        assert (await service.get(f"{path}?{query}")).status in {200, 400}


@pytest.mark.rfc("6749#10.13")
async def test_no_other_site_reads_the_answers(app: ClientApp, service: RunningService) -> None:
    headers = {"Origin": "https://web.example"}
    answer = await service.get("/connect/authorize", params=app.parameters(), headers=headers)
    assert "Access-Control-Allow-Origin" not in answer.headers
    preflight = headers | {"Access-Control-Request-Method": "POST"}
    answer = await service.request("OPTIONS", "/connect/authorize", headers=preflight)
    assert (answer.status, "Access-Control-Allow-Origin" in answer.headers) == (405, False)
