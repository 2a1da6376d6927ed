"""Metrics count what happens, under labels that no caller can add to."""

from __future__ import annotations

import platform
import re
from typing import cast
from unittest.mock import patch

import pytest

from service.clock import clock
from service.distribution import VERSION, find_commit
from service.events.event import Event
from service.events.timings import Signed
from service.events.tokens import CodeReplayed, TokenIntrospected, TokenIssued, TokenRefused
from service.events.users import LoginFailed
from service.model.outgoing import HttpRequest, Unreachable
from tests.driving.service import RunningService


async def test_tokens_are_counted_by_grant_type(service: RunningService) -> None:
    await service.token("machine", grant_type="client_credentials")
    assert 'tokens_issued_total{grant_type="client_credentials"} 1.0' in await _shown(service)


async def test_unknown_grant_type_is_counted_as_other(service: RunningService) -> None:
    await service.token("machine", grant_type="made-up")
    metrics = await _shown(service)
    assert 'refusals_total{error="unsupported_grant_type",grant_type="other"} 1.0' in metrics
    assert "made-up" not in metrics


async def test_unknown_path_is_counted_as_other(service: RunningService) -> None:
    await service.get("/made-up")
    metrics = await _shown(service)
    assert 'requests_total{endpoint="other",method="GET",status="404"} 1.0' in metrics
    assert "made-up" not in metrics


async def test_unknown_method_is_counted_as_other(service: RunningService) -> None:
    await service.request("PROPFIND", "/connect/token")
    metrics = await _shown(service)
    assert re.search(r'requests_total\{endpoint="\S+",method="other",status="4\d\d"\} 1.0', metrics)
    assert "PROPFIND" not in metrics


async def test_an_error_that_an_extension_makes_up_is_other(service: RunningService) -> None:
    service.features.shared.emit(
        TokenRefused(client_id="web", grant_type="delegation", error="made_up", cause="")
    )
    metrics = await _shown(service)
    assert 'token_refusals_total{error="other",grant_type="delegation"} 1.0' in metrics
    assert "made_up" not in metrics


async def test_why_a_login_failed_is_not_shown(service: RunningService) -> None:
    service.features.shared.emit(LoginFailed(username="alice", address="", reason="unknown"))
    failures = re.findall(r"^\S*login_failures\S* .*$", await _shown(service), re.MULTILINE)
    assert failures == ["token_service_login_failures_total 1.0"]


async def test_no_client_is_a_label(service: RunningService) -> None:
    await service.token("machine", grant_type="client_credentials")
    metrics = await _shown(service)
    assert "tokens_issued_total{" in metrics
    assert "machine" not in metrics


async def test_requests_are_timed(service: RunningService) -> None:
    await service.get("/health/live")
    shown = await _shown(service)
    assert 'request_duration_seconds_count{endpoint="/health/live"} 1.0' in shown


async def test_introspections_are_counted_by_their_answer(service: RunningService) -> None:
    service.features.shared.emit(TokenIntrospected(caller="api1", active=False))
    assert 'introspections_total{active="false"} 1.0' in await _shown(service)


async def test_the_state_of_store_registry_and_keys_is_shown(service: RunningService) -> None:
    metrics = await _shown(service)
    assert "token_service_store_away_seconds 0.0" in metrics
    assert "token_service_store_failures_total 0.0" in metrics
    assert f'generation="{service.features.shared.registry.current.generation}"' in metrics
    assert re.search(r'signing_key_info\{alg="ES256",kid="\S+"\} 1.0', metrics)


async def test_store_is_timed_when_no_call_waits_for_it(service: RunningService) -> None:
    before = _value(await _shown(service), "store_seconds_count")
    await service.user_token()
    metrics = await _shown(service)
    assert _value(metrics, "store_seconds_count") > before
    assert _value(metrics, "store_waiting") == 0


async def test_signatures_are_timed_by_algorithm(service: RunningService) -> None:
    await service.token("machine", grant_type="client_credentials")
    assert _value(await _shown(service), 'signing_seconds_count{alg="ES256"}') == 1


async def test_a_duration_is_in_every_bucket_from_its_own_on(service: RunningService) -> None:
    for seconds in (0.0002, 0.00025, 0.2):
        service.features.shared.timed(Signed("RS256", seconds))
    metrics = await _shown(service)
    counts = {
        bound: _value(metrics, f'signing_seconds_bucket{{alg="RS256",le="{bound}"}}')
        for bound in ("0.0001", "0.00025", "0.1", "+Inf")
    }
    assert counts == {"0.0001": 0, "0.00025": 2, "0.1": 2, "+Inf": 3}
    assert _value(metrics, 'signing_seconds_sum{alg="RS256"}') == pytest.approx(0.20045)


async def test_requests_to_other_servers_are_timed_by_purpose(service: RunningService) -> None:
    with pytest.raises(Unreachable):
        await service.features.shared.client_http("client_keys").free.fetch(
            HttpRequest("http://localhost:1/")
        )
    assert _value(await _shown(service), 'outgoing_seconds_count{purpose="client_keys"}') == 1


async def test_a_key_is_as_old_as_its_signing(service: RunningService) -> None:
    (kid,) = service.features.ring.signing_kids.values()
    now = clock()
    service.features.ring.replace(
        in_use=[service.features.ring.signing_key()], held=(), since={kid: now - 100}
    )
    series = f'signing_key_age_seconds{{alg="ES256",kid="{kid}"}}'
    assert 100 <= _value(await _shown(service), series) < 110


async def test_the_process_is_shown(service: RunningService) -> None:
    metrics = await _shown(service)
    shown = dict(re.findall(r"^process_(\w+) (\S+)$", metrics, re.MULTILINE))
    assert set(shown) == {
        "cpu_seconds_total",
        "max_fds",
        "open_fds",
        "resident_memory_bytes",
        "start_time_seconds",
        "virtual_memory_bytes",
    }
    assert float(shown["resident_memory_bytes"]) > 1e7


async def test_the_build_is_shown(service: RunningService) -> None:
    build = r'build_info\{commit="(\w+)",python="(\S+)",version="(\S+)"\} 1.0'
    shown = re.findall(build, await _shown(service))
    assert shown == [(find_commit(), platform.python_version(), VERSION)]


async def test_replays_are_counted(service: RunningService) -> None:
    service.features.shared.emit(CodeReplayed(client_id="web", subject="1"))
    assert "code_replays_total 1.0" in await _shown(service)


async def test_events_count_once_though_counting_others_failed(service: RunningService) -> None:
    metrics, full = (
        service.features.shared.metrics,
        OSError("no space left for the counts of workers"),
    )
    replayed = CodeReplayed(client_id="web", subject="1")
    with patch.object(metrics.timed, "note_all", side_effect=full):
        service.features.shared.emit(replayed)
        await service.get("/made-up")
        with pytest.raises(OSError, match="no space"):
            metrics.settle()
    shown = await _shown(service)
    assert _value(shown, "code_replays_total") == 1
    assert _value(shown, 'requests_total{endpoint="other",method="GET",status="404"}') == 1


async def test_event_without_a_counter_is_ignored(service: RunningService) -> None:
    service.features.shared.emit(cast("Event", object()))
    service.features.shared.emit(
        TokenIssued(
            client_id="web",
            grant_type="password",
            subject="1",
            scope=(),
            refreshable=False,
        )
    )
    assert 'tokens_issued_total{grant_type="password"} 1.0' in await _shown(service)


def _value(metrics: str, series: str) -> float:
    """Return the value of a series."""
    (found,) = re.findall(rf"^token_service_{re.escape(series)} (\S+)$", metrics, re.MULTILINE)
    return float(found)


async def _shown(service: RunningService) -> str:
    return (await service.get("/metrics")).body.decode()
