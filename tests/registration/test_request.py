"""A registration is a JSON object, sent by POST (RFC 7591 §3.1)."""

from __future__ import annotations

import pytest

from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("7591#3.1")

PATH = "/connect/register"
JSON = {"Content-Type": "application/json"}


@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "text/plain", "image/png"])
async def test_another_content_type_is_refused(service: RunningService, kind: str) -> None:
    answer = await service.request("POST", PATH, data=b"{}", headers={"Content-Type": kind})
    assert answer.refusal == (415, "invalid_request")


async def test_a_content_type_may_have_parameters(service: RunningService) -> None:
    sent = {"Content-Type": "application/json; charset=utf-8"}
    body = b'{"redirect_uris": ["https://a.example/cb"]}'
    assert (await service.request("POST", PATH, data=body, headers=sent)).status == 201


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"text"',
        b"\xff",
        b'{"a": NaN}',
        b'{"a": "\\ud800"}',
        b"[" * 2000,
        b'{"a":' * 900 + b"1" + b"}" * 900,
        b'{"redirect_uris": [], "redirect_uris": []}',
        b'{"jwks": {"keys": [], "keys": []}}',
    ],
    ids=lambda body: repr(body[:30]),
)
async def test_a_body_that_is_not_a_json_object_is_refused(
    service: RunningService, body: bytes
) -> None:
    answer = await service.request("POST", PATH, data=body, headers=JSON)
    assert answer.status == 400
    assert answer.error in {"invalid_request", "invalid_redirect_uri"}


async def test_a_long_body_is_refused(service: RunningService) -> None:
    body = b'{"contacts": ["' + b"a" * 70000 + b'"]}'
    answer = await service.request("POST", PATH, data=body, headers=JSON)
    assert answer.refusal == (413, "invalid_request")


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_other_methods_are_refused(service: RunningService, method: str) -> None:
    answer = await service.request(method, PATH)
    assert (answer.status, answer.headers["Allow"]) == (405, "POST")


@pytest.mark.parametrize("path", [PATH, PATH + "/dc_x"])
async def test_every_origin_may_register_and_none_may_manage(
    service: RunningService, path: str
) -> None:
    """A client is not known before it registers; afterwards its token belongs to nobody's page."""
    sent = {"Origin": "https://inspector.example", "Access-Control-Request-Method": "POST"}
    asked = await service.request("OPTIONS", path, headers=sent)
    answer = await service.request("POST", path, json={}, headers=sent)
    told = [each.headers.get("Access-Control-Allow-Origin") for each in (asked, answer)]
    assert told == (["*", "*"] if path == PATH else [None, None])
