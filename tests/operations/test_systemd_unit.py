"""examples/systemd/token-service.service is valid and hardened, and its commands and times fit the service."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
from configparser import RawConfigParser
from pathlib import Path

import pytest

from service.config.schema.server import Server
from service.web.server.connections import FILES_RESERVED, MAX_CONNECTIONS
from tests.driving.process import REPOSITORY
from tests.driving.program import SECONDS
from tests.operations.conftest import Serve, token_from

UNIT = REPOSITORY / "examples/systemd/token-service.service"
MOST_EXPOSED = 20
"""Of 100; systemd calls up to 20 safe."""


@pytest.fixture
def service_section() -> dict[str, str]:
    parser = RawConfigParser(strict=False)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(UNIT.read_text())
    return dict(parser["Service"])


@pytest.mark.needs("systemd-analyze")
@pytest.mark.parametrize(
    "command", [["verify"], ["security", "--offline=true", f"--threshold={MOST_EXPOSED}"]]
)
def test_systemd_finds_nothing_wrong(tmp_path: Path, command: list[str]) -> None:
    unit = tmp_path / UNIT.name
    text = UNIT.read_text().replace("/opt/token-service/bin/token-service", sys.executable)
    unit.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", *command, str(unit)],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert unit.name not in done.stderr


def test_limits_of_the_unit_leave_the_service_what_it_needs(
    service_section: dict[str, str],
) -> None:
    assert int(service_section["TimeoutStopSec"]) > Server().shutdown_grace
    assert int(service_section["LimitNOFILE"]) > MAX_CONNECTIONS + FILES_RESERVED


def test_commands_of_the_unit_start_reload_and_drain_the_service(
    serve: Serve, service_section: dict[str, str], config_file: Path
) -> None:
    _, subcommand, _, _, *flags = shlex.split(service_section["ExecStart"])
    assert subcommand == "serve"
    program = serve(*flags)
    url = program.url()
    config_file.write_text(config_file.read_text().replace("machine-secret", "another-secret"))
    assert service_section["ExecReload"] == "/bin/kill -HUP $MAINPID"
    program.send(signal.SIGHUP)
    program.event("registry_reloaded")
    assert token_from(url, ("machine", "another-secret-of-32-characters")).status_code == 200
    assert program.stop() == 0
