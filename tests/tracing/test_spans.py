"""A traced request is a span, and so is each thing that it waits for; none holds what was sent (W3C Trace Context)."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from service.model.outgoing import HttpRequest
from service.store.keyvalue import StoreUnavailable
from tests.clients.signing import Signer
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in
from tests.driving.service import RunningService, basic
from tests.logout.conftest import end
from tests.logout.relying_party import RelyingParty
from tests.tracing.conftest import (
    CALLER,
    NOT_SAMPLED,
    SAMPLED,
    TRACE,
    Other,
    Traced,
    id_of,
    parent_of,
    sent_by,
)

FORM: dict[str, Any] = {"grant_type": "password", "username": "alice", "password": "alice-password"}
TOKEN = "POST /connect/token"


@pytest.fixture
def config(config: dict[str, Any], other: Other, party: RelyingParty) -> dict[str, Any]:
    client_in(config, "web")["backchannel_logout_uri"] = party.backchannel_logout_uri
    machine = client_in(config, "machine")
    del machine["client_secrets"]
    machine |= {"token_endpoint_auth_method": "private_key_jwt", "jwks_uri": other.url}
    return config


async def ask_for_a_token(service: RunningService, **headers: str) -> int:
    answer = await service.post("/connect/token", auth="frontend", headers=headers, **FORM)
    return answer.status


async def test_a_request_is_a_span_below_its_callers(
    service: RunningService, traced: Traced
) -> None:
    assert await ask_for_a_token(service, **SAMPLED) == 200
    assert parent_of(traced.named(TOKEN)) == f"{TRACE}-{CALLER}"


async def test_a_request_without_a_caller_begins_a_trace(
    service: RunningService, traced: Traced
) -> None:
    await ask_for_a_token(service)
    assert parent_of(traced.named(TOKEN)) is None


async def test_a_request_says_what_it_was_and_nothing_that_was_sent(
    service: RunningService, traced: Traced
) -> None:
    await service.post("/connect/token?client_id=x", auth="frontend", **FORM)
    assert traced.named(TOKEN).attributes == {
        "http.request.method": "POST",
        "http.response.status_code": 200,
        "http.route": "/connect/token",
        "server.address": "sso.example",
        "url.scheme": "https",
    }


async def test_a_request_that_aiohttp_reads_is_traced_as_one_of_the_fast_lane(
    service: RunningService, traced: Traced
) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"grant_type=password&username=alice"
        yield b"&password=alice-password"

    form = {"Content-Type": "application/x-www-form-urlencoded"}
    given = {"Authorization": basic("frontend", "frontend-secret"), **form}
    await service.request("POST", "/connect/token", data=pieces(), headers=given | SAMPLED)
    in_pieces = traced.all()
    traced.exporter.clear()
    await ask_for_a_token(service, **SAMPLED)
    assert [span.name for span in in_pieces] == [span.name for span in traced.all()]
    assert in_pieces[-1].attributes == traced.all()[-1].attributes


async def test_store_and_signature_are_spans_of_the_request(
    service: RunningService, traced: Traced
) -> None:
    await service.user_token(scope="openid api1 offline_access")
    below = traced.below(traced.named(TOKEN))
    assert "sign ES256" in below
    assert any(name.startswith("PIPELINE ") for name in below)


async def test_the_store_is_asked_under_no_key(service: RunningService, traced: Traced) -> None:
    token = (await service.user_token("opaque"))["access_token"]
    traced.exporter.clear()
    await service.introspect(token)
    (asked,) = [span for span in traced.all() if span.name == "PIPELINE GET"]
    assert asked.attributes == {
        "db.operation.batch.size": 2,
        "db.operation.name": "PIPELINE GET",
        "db.query.summary": "GET",
        "db.system.name": "redis",
    }


async def test_a_child_is_within_its_parent(service: RunningService, traced: Traced) -> None:
    await service.user_token()
    whole = traced.named(TOKEN)
    assert whole.start_time is not None
    assert whole.end_time is not None
    for span in traced.all():
        assert span.start_time is not None
        assert whole.start_time - 1_000_000 <= span.start_time <= whole.end_time


async def test_a_failure_is_an_error_of_the_span_without_its_words(
    service: RunningService, traced: Traced, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object, **__: object) -> None:
        raise StoreUnavailable("in words")

    token = (await service.user_token("opaque"))["access_token"]
    monkeypatch.setattr(type(service.features.shared.kv), "_ask", fail)
    assert (await service.introspect(token)).status == 503
    failed = traced.named("POST /connect/introspect")
    assert not failed.status.is_ok
    assert (failed.attributes or {})["error.type"] == "503"
    assert "in words" not in failed.to_json()


async def test_a_caller_that_does_not_record_is_not_recorded(
    service: RunningService, traced: Traced
) -> None:
    await ask_for_a_token(service, **NOT_SAMPLED)
    assert traced.all() == []


@pytest.mark.parametrize(
    "method", ["GET", "PROPFIND"], ids=["a method of HTTP", "a method that nobody knows"]
)
async def test_unknown_path_is_in_no_span(
    service: RunningService, traced: Traced, method: str
) -> None:
    await service.request(method, "/made-up/path")
    (span,) = traced.all()
    assert span.name == {"GET": "GET", "PROPFIND": "HTTP"}[method]
    assert "made-up" not in span.to_json()
    assert "PROPFIND" not in span.to_json()


@pytest.mark.parametrize("path", ["/health/live", "/health/ready", "/metrics"])
async def test_probes_are_not_traced(service: RunningService, traced: Traced, path: str) -> None:
    await service.get(path)
    assert traced.all() == []


async def test_traceparent_that_is_too_long_begins_a_trace_without_a_warning(
    service: RunningService, traced: Traced, caplog: pytest.LogCaptureFixture
) -> None:
    await ask_for_a_token(service, traceparent=SAMPLED["traceparent"] + "-" + "0" * 600)
    assert parent_of(traced.named(TOKEN)) is None
    await ask_for_a_token(service, **SAMPLED, tracestate="a=" + "0" * 9000)
    assert "maximum length" not in caplog.text


async def test_malformed_traceparent_begins_a_trace_and_is_not_logged(
    service: RunningService, traced: Traced, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    wrong = {"traceparent": "00-nonsense", "tracestate": "no state at all"}
    await ask_for_a_token(service, **wrong)
    await ask_for_a_token(service, **SAMPLED | {"tracestate": "no state at all"})
    assert len([span for span in traced.all() if span.name == TOKEN]) == 2
    assert "no state at all" not in caplog.text


async def test_request_for_keys_carries_the_traceparent(
    service: RunningService, other: Other, traced: Traced
) -> None:
    await Signer(service, "machine", "ES256").ask()
    asked = traced.named("GET")
    assert parent_of(asked) == id_of(traced.named(TOKEN))
    assert other.headers[0]["traceparent"] == sent_by(asked)
    port = int(other.url.split(":")[2].split("/")[0])
    assert asked.attributes == {
        "error.type": "404",
        "http.request.method": "GET",
        "http.response.status_code": 404,
        "server.address": "localhost",
        "server.port": port,
        "token_service.purpose": "client_keys",
    }


async def test_unavailable_server_is_an_error_of_the_span(
    service: RunningService, traced: Traced
) -> None:
    ways = service.features.shared.client_http("client_keys")
    for url in ("http://localhost:1/", "https://[broken"):
        with pytest.raises(Exception, match=r"answer|URL"):
            await ways.guarded.fetch(HttpRequest(url))
    assert [(span.attributes or {})["error.type"] for span in traced.all()] == ["Unreachable"] * 2


@pytest.mark.rfc("openid-backchannel#2.5")
async def test_a_delivery_is_a_trace_of_its_own_with_a_link_to_the_logout(
    app: ClientApp, party: RelyingParty, traced: Traced
) -> None:
    tokens = await app.tokens()
    await end(app, tokens["id_token"])
    await party.claims()
    delivery = await traced.ended("backchannel_logout")
    logout, told = traced.named("GET /connect/endsession"), traced.named("POST")
    assert parent_of(delivery) is None
    (link,), context = delivery.links, logout.get_span_context()
    assert context is not None
    assert link.context.span_id == context.span_id
    assert parent_of(told) == id_of(delivery)
    assert party.requests[0].headers["traceparent"] == sent_by(told)
    assert "sign ES256" in traced.below(delivery)


async def test_audit_lines_name_the_trace(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    await ask_for_a_token(service, **SAMPLED)
    assert f'"trace_id":"{TRACE}"' in capfd.readouterr().err
