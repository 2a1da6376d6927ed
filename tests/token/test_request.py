"""A token request of another form is refused before it is read (RFC 6749 §3.2, RFC 9110)."""

from __future__ import annotations

from typing import Any

import pytest

from service.events.tokens import TokenRefused
from tests.driving.service import RunningService, basic

pytestmark = pytest.mark.rfc("6749#3.2")

MACHINE_PATHS = ("/connect/token", "/connect/introspect", "/connect/revocation")
FORM = {"Content-Type": "application/x-www-form-urlencoded"}
MACHINE = {"Authorization": basic("machine", "machine-secret")}


@pytest.mark.parametrize("path", MACHINE_PATHS)
async def test_other_methods_are_answered_with_allow(service: RunningService, path: str) -> None:
    for method in ("GET", "PUT", "DELETE", "PATCH", "HEAD"):
        answer = await service.request(method, path)
        assert (answer.status, answer.headers["Allow"]) == (405, "POST")
    answer = await service.get(path)
    assert answer["error_description"] == "the method has to be POST"


@pytest.mark.parametrize(
    "content_type", ["application/json", "multipart/form-data; boundary=x", "text/plain", ""]
)
async def test_other_content_types_are_unsupported(
    service: RunningService, content_type: str
) -> None:
    headers = MACHINE | {"Content-Type": content_type}
    for path in MACHINE_PATHS:
        answer = await service.post(path, raw=b"grant_type=x&token=y", headers=headers)
        assert answer.refusal == (415, "invalid_request")


async def test_a_body_of_no_content_type_is_unsupported(service: RunningService) -> None:
    for path in MACHINE_PATHS:
        answer = await service.request("POST", path, headers=MACHINE)
        assert answer.refusal == (415, "invalid_request")


async def test_the_content_type_may_name_a_charset(service: RunningService) -> None:
    headers = MACHINE | {"Content-Type": "application/x-www-form-urlencoded; charset=UTF-8"}
    answer = await service.post(
        "/connect/token", raw="grant_type=client_credentials", headers=headers
    )
    assert answer.status == 200


async def test_a_body_over_the_limit_is_too_large(service: RunningService) -> None:
    for path in MACHINE_PATHS:
        answer = await service.post(path, raw="x=" + "y" * 65536, headers=MACHINE)
        assert answer.refusal == (413, "invalid_request")


async def test_a_compressed_body_is_unsupported(service: RunningService) -> None:
    headers = MACHINE | {"Content-Encoding": "gzip"}
    for path in MACHINE_PATHS:
        answer = await service.post(path, raw=b"no gzip at all", headers=headers)
        assert answer.refusal == (415, "invalid_request")


@pytest.mark.parametrize("body", [b"a=%ff%fe", b"a=\xff\xfe", b"%c3=%28"])
async def test_a_body_that_is_not_utf_8_is_refused(service: RunningService, body: bytes) -> None:
    for path in MACHINE_PATHS:
        answer = await service.post(path, raw=body, headers=MACHINE)
        assert answer.refusal == (400, "invalid_request")


async def test_too_many_parameters_are_refused(service: RunningService) -> None:
    answer = await service.post(
        "/connect/token", raw="&".join(f"p{n}=1" for n in range(500)), headers=MACHINE
    )
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("6749#3.1")
@pytest.mark.parametrize("name", ["grant_type", "scope", "client_id", "code", "token", "anything"])
async def test_a_parameter_that_is_sent_twice_is_refused(
    service: RunningService, name: str
) -> None:
    usual: dict[str, Any] = {"grant_type": "client_credentials", "token": "x"}
    form = usual | {name: ["machine", "machine"]}
    for path in MACHINE_PATHS:
        answer = await service.post(path, auth="machine", **form)
        assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("6749#3.1")
async def test_an_empty_second_value_is_a_second_value(service: RunningService) -> None:
    answer = await service.token("machine", grant_type=["client_credentials", ""])
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("8707#2")
async def test_resource_and_audience_may_repeat(service: RunningService) -> None:
    answer = await service.token(
        "machine",
        grant_type="client_credentials",
        resource=["api1", "api2"],
        audience=["a", "b"],
    )
    assert answer.status == 200


@pytest.mark.rfc("6749#3.1")
async def test_an_empty_parameter_counts_as_absent(service: RunningService) -> None:
    answer = await service.token("machine", grant_type="client_credentials", scope="", resource="")
    assert answer["scope"] == "api1 api2"
    assert (await service.token("machine", grant_type="")).refusal == (400, "invalid_request")


LIMITS = {
    "client_id": 256,
    "client_secret": 256,
    "grant_type": 100,
    "scope": 1000,
    "redirect_uri": 2048,
    "nonce": 300,
    "ui_locales": 254,
    "login_hint": 254,
    "acr_values": 300,
    "username": 254,
    "password": 200,
    "code": 256,
    "refresh_token": 256,
    "code_verifier": 128,
    "request_uri": 512,
}


async def test_a_parameter_over_its_limit_is_refused(service: RunningService) -> None:
    for name, limit in LIMITS.items():
        form: dict[str, Any] = {"grant_type": "client_credentials"} | {name: "é" * (limit + 1)}
        answer = await service.token("machine", **form)
        assert answer.refusal == (400, "invalid_request")
        assert answer["error_description"] == f"{name} is longer than {limit} characters"


async def test_a_parameter_at_its_limit_is_read(service: RunningService) -> None:
    usual = {"client_id", "client_secret", "grant_type", "scope"}
    form: dict[str, Any] = {name: "é" * LIMITS[name] for name in LIMITS.keys() - usual}
    assert (await service.token("machine", grant_type="client_credentials", **form)).status == 200


@pytest.mark.parametrize("pair", [("m" * 257, "s"), ("machine", "s" * 257)], ids=["name", "secret"])
async def test_the_limits_hold_in_the_header_too(
    service: RunningService, pair: tuple[str, str]
) -> None:
    for path in MACHINE_PATHS:
        answer = await service.post(path, auth=pair, token="x")
        assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("6749#2.3.1", "9700#2.6")
async def test_parameters_in_the_query_are_ignored(service: RunningService) -> None:
    credentials = "client_id=machine&client_secret=machine-secret"
    answer = await service.post(
        f"/connect/token?{credentials}&grant_type=client_credentials", raw="", headers=FORM
    )
    assert answer.refusal == (401, "invalid_client")
    answer = await service.post(
        "/connect/token?grant_type=client_credentials", auth="machine", scope="api1"
    )
    assert answer.refusal == (400, "invalid_request")


@pytest.mark.rfc("6749#5.1", "6749#5.2")
async def test_answers_are_json_that_is_not_cached(service: RunningService) -> None:
    granted = await service.token("machine", grant_type="client_credentials")
    refused = await service.token("machine", grant_type="nothing")
    for answer in (granted, refused):
        assert answer.headers["Content-Type"].startswith("application/json")
        assert answer.headers["Cache-Control"] == "no-store"
        assert answer.headers["Pragma"] == "no-cache"
        assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.rfc("9110#12.5.1")
@pytest.mark.parametrize("accept", ["text/html", "application/xml;q=1, */*;q=0", "garbage"])
async def test_machines_get_json_whatever_they_accept(service: RunningService, accept: str) -> None:
    answer = await service.post(
        "/connect/token", auth="machine", headers={"Accept": accept}, grant_type="nothing"
    )
    assert answer.refusal == (400, "unsupported_grant_type")


async def test_a_short_grant_type_comes_with_its_whole_name(service: RunningService) -> None:
    answer = await service.token("frontend", grant_type="device_code")
    assert answer.refusal == (400, "unsupported_grant_type")
    assert "urn:ietf:params:oauth:grant-type:device_code" in answer.json["error_description"]


@pytest.mark.rfc("6749#5.2")
async def test_an_error_never_echoes_what_was_sent(service: RunningService) -> None:
    sent = "Zq9-unmistakable"
    for form in (
        {"grant_type": sent},
        {"grant_type": "password", "scope": sent},
        {sent: ["a", "b"]},
    ):
        answer = await service.token("frontend", **form)
        assert answer.status == 400
        assert sent.encode() not in answer.body
        assert answer.json["error_description"].isascii()


@pytest.mark.parametrize(
    ("sent", "known", "error"),
    [
        ("password", "password", "unauthorized_client"),
        ("a-secret", None, "unsupported_grant_type"),
    ],
)
async def test_refusal_is_logged_with_the_authenticated_client_and_a_known_grant_type(
    service: RunningService, events: list[object], sent: str, known: str | None, error: str
) -> None:
    await service.token("machine", grant_type=sent)
    (refused,) = [one for one in events if isinstance(one, TokenRefused)]
    assert (refused.client_id, refused.grant_type, refused.error) == ("machine", known, error)
