"""Spans leave the process as the standard environment of OpenTelemetry says, and nothing happens where it says nothing."""

from __future__ import annotations

import re
import signal
from collections.abc import Iterator
from pathlib import Path
from socket import create_server

import pytest

from service.observe.tracing import wanted_exporters
from tests.driving.collector import Collector, collector_running
from tests.driving.redis_servers import RedisServer
from tests.operations.conftest import (
    Serve,
    config_file,
    on_redis,
    redis,
    serve,
    token_from,
)

__all__ = ["config_file", "on_redis", "redis", "serve"]  # fixtures

TOKEN = "POST /connect/token"


@pytest.fixture
def collector() -> Iterator[Collector]:
    with collector_running() as collector:
        yield collector


@pytest.fixture
def without_the_extra(tmp_path: Path) -> str:
    """A folder for PYTHONPATH: with it, OpenTelemetry is not installed."""
    missing = tmp_path / "without" / "opentelemetry"
    missing.mkdir(parents=True)
    (missing / "__init__.py").write_text("raise ImportError")
    return str(missing.parent)


def test_spans_are_exported_under_the_services_name(serve: Serve, collector: Collector) -> None:
    assert token_from(serve(**collector.environ).url()).status_code == 200
    (whole,) = collector.wait_for(TOKEN)
    (signed,) = collector.wait_for("sign RS256")
    assert signed.parent_span_id == whole.span_id
    assert signed.trace_id == whole.trace_id
    assert collector.resources("service.name") == {"token-service"}


def test_the_environment_names_the_service(serve: Serve, collector: Collector) -> None:
    environ = collector.environ | {
        "OTEL_SERVICE_NAME": "sso",
        "OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test",
    }
    token_from(serve(**environ).url())
    collector.wait_for(TOKEN)
    assert collector.resources("service.name") == {"sso"}
    assert collector.resources("deployment.environment.name") == {"test"}


@pytest.mark.needs("redis-server")
def test_every_worker_exports_what_it_has_answered(
    serve: Serve, on_redis: RedisServer, collector: Collector
) -> None:
    on_redis.start()
    url = serve("--workers", "2", **collector.environ).url()
    for count in range(1, 200):
        token_from(url)
        collector.wait_for(TOKEN, count)
        if len(collector.resources("service.instance.id")) == 2:
            break
    assert len(collector.resources("service.instance.id")) == 2


def test_the_last_spans_are_exported_before_the_end(serve: Serve, collector: Collector) -> None:
    program = serve(**collector.environ | {"OTEL_BSP_SCHEDULE_DELAY": "60000"})
    token_from(program.url())
    program.send(signal.SIGTERM)
    assert program.ended() == 0
    collector.wait_for(TOKEN)


def test_a_collector_that_hangs_does_not_delay_the_end(serve: Serve) -> None:
    with create_server(("127.0.0.1", 0)) as hanging:
        url = f"http://127.0.0.1:{hanging.getsockname()[1]}"
        program = serve(OTEL_EXPORTER_OTLP_ENDPOINT=url)
        token_from(program.url())
        program.send(signal.SIGTERM)
        assert program.ended() == 0


def test_spans_can_be_shown_on_the_console(serve: Serve, capfd: pytest.CaptureFixture[str]) -> None:
    program = serve(OTEL_TRACES_EXPORTER="console")
    token_from(program.url())
    program.send(signal.SIGINT)
    program.ended()
    assert f'"name": "{TOKEN}"' in capfd.readouterr().out


def test_the_sampler_is_the_environments(serve: Serve, collector: Collector) -> None:
    program = serve(**collector.environ, OTEL_TRACES_SAMPLER="always_off")
    token_from(program.url())
    program.send(signal.SIGTERM)
    program.ended()
    assert collector.spans == []


@pytest.mark.parametrize(
    "environ",
    [
        {},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_SDK_DISABLED": "true"},
        {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://localhost:1", "OTEL_TRACES_EXPORTER": "none"},
    ],
    ids=["nothing is said", "disabled", "no exporter"],
)
def test_no_span_can_be_made_unless_traces_are_configured(
    serve: Serve, environ: dict[str, str]
) -> None:
    program = serve(**environ, PYTHONPROFILEIMPORTTIME="1")
    assert token_from(program.url()).status_code == 200
    program.send(signal.SIGINT)
    program.ended()
    imported = "\n".join(program.lines)
    assert re.search(r"\| +service\.observe\.tracing$", imported, re.MULTILINE)
    # redis-py, which memory:// needs, looks for OpenTelemetry's metrics, and does not find them (cli/serve.py).
    assert not re.findall(
        r"opentelemetry\.(?!sdk$|(sdk\.)?metrics$)|observe\.spans", imported, re.MULTILINE
    )


def test_without_the_extra_the_service_serves(serve: Serve, without_the_extra: str) -> None:
    program = serve(PYTHONPATH=without_the_extra)
    assert token_from(program.url()).status_code == 200


@pytest.mark.parametrize(
    ("environ", "said"),
    [
        ({"OTEL_TRACES_EXPORTER": "zipkin"}, "otlp, console or none, not zipkin"),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
            "http/protobuf only",
        ),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_SPAN_ATTRIBUTE_COUNT_LIMIT": "few"},
            "a variable of the environment (OTEL_*) is wrong",
        ),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_MAX_QUEUE_SIZE": "many"},
            "OTEL_BSP_MAX_QUEUE_SIZE is no whole number above 0",
        ),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_SCHEDULE_DELAY": "0"},
            "OTEL_BSP_SCHEDULE_DELAY is no whole number above 0",
        ),
        (
            {"OTEL_TRACES_EXPORTER": "otlp", "OTEL_BSP_MAX_QUEUE_SIZE": "10"},
            "OTEL_BSP_MAX_EXPORT_BATCH_SIZE is 512, and OTEL_BSP_MAX_QUEUE_SIZE only 10",
        ),
        (
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4318"},
            "OTEL_EXPORTER_OTLP_ENDPOINT is no http or https URL",
        ),
    ],
    ids=["exporter", "protocol", "limit", "queue", "delay", "batch", "endpoint"],
)
def test_tracing_that_is_impossible_is_reported_at_the_start(
    serve: Serve, environ: dict[str, str], said: str
) -> None:
    program = serve(**environ)
    program.wait_for(said)
    assert program.ended() == 1


def test_headers_for_the_collector_are_not_shown_where_they_are_wrong(serve: Serve) -> None:
    wrong = {"OTEL_EXPORTER_OTLP_HEADERS": "authorization confidential"}
    program = serve(OTEL_TRACES_EXPORTER="otlp", **wrong)
    program.wait_for("OTEL_EXPORTER_OTLP_HEADERS is no list of name=value")
    assert program.ended() == 1
    assert "confidential" not in "".join(program.lines)


@pytest.mark.parametrize(
    "environ",
    [
        {"OTEL_EXPORTER_OTLP_PROTOCOL": ""},
        {
            "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc",
            "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "http/protobuf",
        },
    ],
    ids=["an empty variable is none", "that of traces counts"],
)
def test_spans_are_exported_by_the_protocol_of_traces(environ: dict[str, str]) -> None:
    assert wanted_exporters({"OTEL_TRACES_EXPORTER": "otlp", **environ}) == {"otlp"}


def test_a_missing_extra_is_named_at_the_start(serve: Serve, without_the_extra: str) -> None:
    program = serve(OTEL_TRACES_EXPORTER="otlp", PYTHONPATH=without_the_extra)
    program.wait_for("scripts/install.py requirements-tracing.lock")
    assert program.ended() == 1
