"""On a terminal the log is lines for a person, in colour; elsewhere it is JSON; a variable chooses either."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress

import pytest

from service.events.users import LoginFailed
from service.observe.event_log import EventLog
from tests.operations.conftest import Serve, token_from

LOGGING = """
import logging
from service.events.tokens import CodeReplayed
from service.observe.event_log import EventLog
from service.observe.logs import configure_logs
import os
configure_logs("info")
logging.getLogger("aiohttp.server").warning("something %s", "happened")
EventLog.on_standard_error(os.environ).note(CodeReplayed(client_id="web", subject="alice"))
"""


def on_a_terminal(**environ: str) -> str:
    """Return the output of a program that logs to a terminal."""
    ours, theirs = pty.openpty()
    own = {name: value for name, value in os.environ.items() if name != "NO_COLOR"} | environ
    subprocess.run([sys.executable, "-c", LOGGING], stderr=theirs, env=own, check=True)
    os.close(theirs)
    shown = b""
    with suppress(OSError):  # the other end is closed
        while more := os.read(ours, 4096):
            shown += more
    os.close(ours)
    return shown.decode()


def test_a_terminal_shows_readable_lines_in_colour() -> None:
    happened, replayed = on_a_terminal().splitlines()
    assert "something happened" in happened
    assert "code_replayed" in replayed
    assert "\x1b[" in happened
    assert "\x1b[" in replayed


def test_no_color_is_respected() -> None:
    happened, replayed = on_a_terminal(NO_COLOR="1").splitlines()
    assert "[warning  ] something happened" in happened
    assert "[warning  ] code_replayed" in replayed
    assert replayed.endswith("client_id=web subject=alice")
    assert "\x1b" not in happened + replayed


def test_a_terminal_shows_json_if_the_environment_says_so() -> None:
    lines = on_a_terminal(SERVICE_LOG_FORMAT="json").splitlines()
    assert [json.loads(line)["level"] for line in lines] == ["warning", "warning"]


def test_a_file_gets_readable_lines_if_the_environment_says_so(serve: Serve) -> None:
    program = serve(SERVICE_LOG_FORMAT="text", SERVICE_LOG_LEVEL="debug")
    assert token_from(program.url()).status_code == 200
    line = program.wait_for("token_issued")
    assert "grant_type=client_credentials" in line
    assert "\x1b" not in line


def test_the_flag_beats_the_environment(serve: Serve) -> None:
    program = serve("--log-format", "json", SERVICE_LOG_FORMAT="text")
    assert token_from(program.url()).status_code == 200
    assert program.event("token_issued")["client_id"] == "machine"


def test_an_unknown_format_is_a_usage_error(serve: Serve) -> None:
    program = serve(SERVICE_LOG_FORMAT="xml")
    assert program.ended() == 2


@pytest.mark.parametrize("text", ["\x1b[2J", "a\r\nb", "\x9b1m"])
def test_text_of_a_caller_cannot_command_the_terminal(
    capfd: pytest.CaptureFixture[str], text: str
) -> None:
    log = EventLog.on_standard_error({"SERVICE_LOG_FORMAT": "text"})
    log.note(LoginFailed(username=text, address="", reason="unknown"))
    line = capfd.readouterr().err
    assert "login_failed" in line
    assert line.removesuffix("\n").isprintable()
