"""Logs are lines of JSON: one per event, none with a secret, whatever a caller sends."""

from __future__ import annotations

import asyncio
import json
import logging
import subprocess
import sys
import threading
from dataclasses import dataclass
from typing import Any

import pytest

from service.events.authorizations import ConsentGiven
from service.events.event import Event
from service.events.operations import RegistryReloadRefused
from service.events.timings import RequestAnswered
from service.events.tokens import (
    AssertionReplayed,
    CodeReplayed,
    ExtensionGrantFailed,
    RefreshTokenReused,
    TokenIntrospected,
)
from service.events.users import BackChannelLogoutFailed, LoginFailed, LoginLocked
from service.observe.event_log import EventLog, FanOut
from tests.driving.service import RunningService
from tests.operations.conftest import Serve, token_from

ANSWERED = RequestAnswered(method="GET", endpoint="/connect/token", status=200, seconds=0.1)
FAILED = RequestAnswered(method="POST", endpoint="/connect/token", status=503, seconds=0.1)
REFUSED = RequestAnswered(method="POST", endpoint="/connect/token", status=401, seconds=0.1)


@pytest.fixture
def lines() -> list[str]:
    return []


@pytest.fixture
def log(lines: list[str]) -> EventLog:
    """An event log that keeps its lines."""
    return EventLog(lines.append)


def test_event_is_one_line_with_all_its_members(log: EventLog, lines: list[str]) -> None:
    log.note(ConsentGiven(client_id="c", subject="s", scope=frozenset({"b", "a"}), remembered=True))
    said = json.loads(lines[0])
    assert said.pop("timestamp").endswith("Z")
    assert said == {
        "level": "info",
        "logger": "audit",
        "event": "consent_given",
        "request_id": None,
        "client_id": "c",
        "subject": "s",
        "scope": ["a", "b"],
        "claims": [],
        "authorization_details_types": [],
        "remembered": True,
    }


@dataclass
class Silent:
    """An event that says nothing but that it happened."""


class Foreign:
    """An event that is not a dataclass, as an extension grant's author may send it."""


@pytest.mark.parametrize(("event", "name"), [(Silent(), "silent"), (Foreign(), "foreign")])
def test_event_without_members_is_logged_by_its_name(
    log: EventLog, lines: list[str], event: Any, name: str
) -> None:
    log.note(event)
    assert json.loads(lines[0]).items() >= {"event": name, "logger": "audit"}.items()
    assert set(json.loads(lines[0])) == {"timestamp", "level", "logger", "event", "request_id"}


def test_a_warning_of_a_library_is_a_line_of_the_log() -> None:
    program = """
import warnings
from service.observe.logs import configure_logs
configure_logs("info", {"SERVICE_LOG_FORMAT": "json"})
warnings.warn("short key")
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    (line,) = ran.stderr.splitlines()
    written = json.loads(line)
    assert (written["level"], written["logger"]) == ("warning", "py.warnings")
    assert "short key" in written["event"]


def test_a_line_stays_one_line(log: EventLog, lines: list[str]) -> None:
    log.note(LoginFailed(username='a\r\n{"event":"forged"}\x00', address="", reason="unknown"))
    assert len("".join(lines).splitlines()) == 1


@pytest.mark.parametrize(
    ("level", "written"),
    [
        (logging.DEBUG, ["debug", "info", "warning"]),
        (logging.INFO, ["info", "warning"]),
        (logging.WARNING, ["warning"]),
        (logging.ERROR, []),
    ],
    ids=["debug", "info", "warning", "error"],
)
def test_a_request_is_logged_at_the_level_of_its_status(
    lines: list[str],
    level: int,
    written: list[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(level, "service.requests")
    log = EventLog(lines.append)
    for event in (ANSWERED, REFUSED, FAILED):
        log.note(event)
    assert [json.loads(line)["level"] for line in lines] == written


@pytest.mark.parametrize("logger", ["requests", "audit"])
def test_what_comes_all_day_is_written_where_its_own_logger_is_at_debug(
    lines: list[str], logger: str, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "service")
    caplog.set_level(logging.DEBUG, f"service.{logger}")
    log = EventLog(lines.append)
    for event in (ANSWERED, TokenIntrospected(caller="api1", active=True)):
        log.note(event)
    assert [json.loads(line)["logger"] for line in lines] == [logger]


@pytest.mark.parametrize(
    "event",
    [
        AssertionReplayed(client_id="c", issuer="i"),
        BackChannelLogoutFailed(client_id="c", session_id="s", attempts=6, cause=""),
        CodeReplayed(client_id="c", subject=None),
        ExtensionGrantFailed(client_id="c", grant_type="g", cause=""),
        LoginLocked(username="u", address="a"),
        RefreshTokenReused(client_id="c", subject=None),
        RegistryReloadRefused(problems=()),
    ],
    ids=lambda event: type(event).__name__,
)
def test_event_that_needs_attention_is_a_warning(
    log: EventLog, lines: list[str], event: Event
) -> None:
    log.note(event)
    assert json.loads(lines[0])["level"] == "warning"


def test_listener_that_fails_does_not_affect_others() -> None:
    seen: list[object] = []

    def fails(event: object) -> None:
        raise RuntimeError(event)

    FanOut(fails, seen.append).emit(ANSWERED)
    assert seen == [ANSWERED]


async def test_event_of_another_thread_reaches_listeners_on_the_loop() -> None:
    heard: list[int] = []
    tell = FanOut(lambda _: heard.append(threading.get_ident())).emit
    tell(ANSWERED)
    await asyncio.sleep(0)
    await asyncio.to_thread(tell, ANSWERED)  # as a reload does
    await asyncio.sleep(0)
    assert heard == [threading.get_ident()] * 2


async def test_no_query_is_logged(
    service: RunningService, capfd: pytest.CaptureFixture[str]
) -> None:
    await service.get("/connect/authorize?client_id=web&state=confidential")
    assert "confidential" not in "".join(capfd.readouterr())


def test_all_output_is_json_but_the_line_with_the_url(serve: Serve) -> None:
    program = serve(SERVICE_LOG_LEVEL="debug")
    url = program.url()
    program.lines.remove(next(line for line in program.lines if line.startswith("listening")))
    assert token_from(url).status_code == 200
    assert program.event("request_answered")["endpoint"] == "/connect/token"
    assert all(json.loads(line)["level"] for line in program.lines)


def test_the_level_comes_from_the_environment(serve: Serve) -> None:
    program = serve(SERVICE_LOG_LEVEL="error")
    program.url()
    assert not [line for line in program.lines if '"warning"' in line]


def test_a_library_logs_through_the_same_formatter() -> None:
    program = (
        "import logging; from service.observe.logs import configure_logs; configure_logs('info');"
        "logging.getLogger('aiohttp.server').warning('something %s', 'happened')"
    )
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert json.loads(ran.stderr)["event"] == "something happened"
