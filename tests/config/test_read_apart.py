"""A process that serves lets another one read its configuration, and has nothing in memory that only reading needs."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from service.cli import apart
from service.config.configuration import Configuration
from service.config.problem import ConfigError
from service.start_rules import load_to_serve

EXAMPLE = Path(__file__).parents[2] / "config.yaml"
DETAILS = """
api_resources: [{name: payments, secrets: [{sha256: "%s"}]}]
authorization_details_types:
  - {type: payment, api_resource: payments, schema: {properties: {amount: {type: integer}}}}
""" % ("0" * 64)


def test_another_process_reads_the_same() -> None:
    here, there = load_to_serve(EXAMPLE, {}), apart.read(EXAMPLE, {})
    assert there == here
    assert there.files.now() == here.files.now()
    assert there.places == here.places


def test_schema_of_authorization_details_is_compiled_again(
    read: Callable[..., Configuration], file: Path
) -> None:
    read(DETAILS)
    payment = apart.read(file, {}).registry.authorization_details_types["payment"]
    assert payment.is_valid({"type": "payment", "amount": 1})
    assert not payment.is_valid({"type": "payment", "amount": "1"})


def test_every_problem_arrives_with_its_place(file: Path) -> None:
    file.write_text('issuer: https://auth.example.com\nsesion: {}\nserver: {port: "${PORT}"}\n')
    with pytest.raises(ConfigError) as here:
        load_to_serve(file, {"PORT": "many"})
    with pytest.raises(ConfigError) as there:
        apart.read(file, {"PORT": "many"})
    assert there.value.problems == here.value.problems
    assert there.value.files.now() == here.value.files.now()
    assert len(there.value.problems) == 2


def test_process_that_dies_is_a_problem(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file.with_name("deadly.py").write_text(
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    monkeypatch.syspath_prepend(file.parent)
    file.write_text(
        "issuer: https://auth.example.com\nextension_grants: [{handler: 'deadly:Grant'}]\n"
    )
    with pytest.raises(ConfigError, match="ended before it was done"):
        apart.read(file, {})


def test_what_only_reading_needs_is_not_imported_to_serve() -> None:
    told = subprocess.run(
        [
            sys.executable,
            "-c",
            "import json, sys; import service.cli.serve, service.cli.serving; print(json.dumps([*sys.modules]))",
        ],
        check=True,
        capture_output=True,
    ).stdout
    imported = {*json.loads(told)}
    assert "service.app" in imported
    assert not imported & {"pydantic", "pydantic_core", "yaml", "service.config.rules.table"}
