"""Every answer names its request, and the log names it alike."""

from __future__ import annotations

import json

import pytest

from tests.driving.service import RunningService


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/.well-known/jwks.json", 200),
        ("GET", "/nowhere", 404),
        ("PUT", "/connect/token", 405),
        ("POST", "/connect/introspect", 415),
        ("GET", "/connect/authorize", 400),
    ],
)
async def test_every_answer_has_an_id(
    service: RunningService, method: str, path: str, status: int
) -> None:
    answer = await service.request(method, path)
    assert answer.status == status
    assert answer.headers["X-Request-ID"]


async def test_a_body_that_is_too_large_has_an_id(service: RunningService) -> None:
    answer = await service.post("/connect/token", raw="a=" + 100_000 * "b")
    assert answer.status == 413
    assert answer.headers["X-Request-ID"]


async def test_a_sane_id_of_the_caller_is_kept(service: RunningService) -> None:
    answer = await service.get("/health/live", headers={"X-Request-ID": "Trace-1.2_3"})
    assert answer.headers["X-Request-ID"] == "Trace-1.2_3"


@pytest.mark.parametrize("given", ["", "a b", "<script>", "x" * 65])
async def test_another_id_is_replaced(service: RunningService, given: str) -> None:
    answer = await service.get("/health/live", headers={"X-Request-ID": given})
    assert answer.headers["X-Request-ID"] not in ("", given)


async def test_the_audit_log_has_the_same_id(
    service: RunningService, capsys: pytest.CaptureFixture[str]
) -> None:
    await service.post("/connect/token", auth="machine", headers={"X-Request-ID": "the-one"})
    lines = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    assert "the-one" in [line["request_id"] for line in lines if line["event"] == "token_refused"]
