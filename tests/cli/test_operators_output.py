"""The output of an operator's class at its import is never part of a command's result."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.documentation.reading import REPOSITORY

TALKING = """
import structlog
structlog.get_logger().warning("logged")
print("printed")

class Grant:
    grant_type = "urn:example:talking"
    def __init__(self, options, services): ...
    async def handle(self, request): ...
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A configuration file that names the class."""
    (tmp_path / "talking.py").write_text(TALKING)
    file = tmp_path / "config.yaml"
    grants = "extension_grants: [{handler: 'talking:Grant'}]"
    file.write_text(f"issuer: https://auth.example.com\n{grants}\n")
    return file


def run(file: Path, command: str) -> subprocess.CompletedProcess[str]:
    return run_python(file, "-m", "service", *command.format(file=file).split())


def run_python(file: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": f"{file.parent}{os.pathsep}{REPOSITORY}"},
        check=False,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    "command", ["check --format json {file}", "graph --format json --config {file}"]
)
def test_the_result_is_json_alone(file: Path, command: str) -> None:
    done = run(file, command)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)
    assert {"logged", "printed"} <= {*done.stderr.split()}


def test_what_is_logged_before_the_start_is_a_line_of_the_log(file: Path) -> None:
    done = run(file, "serve --store nonsense --config {file}")
    assert (done.returncode, done.stdout) == (1, "")
    events = [json.loads(line)["event"] for line in done.stderr.splitlines() if line[0] == "{"]
    assert events == ["logged"]
    assert "--store: error:" in done.stderr


def test_what_is_logged_while_a_reload_reads_is_a_line_of_the_log(file: Path) -> None:
    reading = "from service.cli.apart import read; read(Path(sys.argv[1]), os.environ)"
    done = run_python(file, "-c", f"import os, sys; from pathlib import Path; {reading}", str(file))
    assert (done.returncode, done.stdout) == (0, "")
    logged, printed = done.stderr.splitlines()
    assert (json.loads(logged)["event"], printed) == ("logged", "printed")
