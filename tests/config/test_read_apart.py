"""A process that serves lets another one read its configuration again."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from errno import EMFILE
from pathlib import Path
from unittest.mock import Mock

import pytest

from service.cli import apart
from service.config.configuration import Configuration
from service.config.problem import ConfigError, Problem
from service.config.reload import ReloadableRegistry
from service.start.load import load_to_serve

EXAMPLE = Path(__file__).parents[2] / "config.yaml"
DETAILS = """
api_resources: [{name: payments, secrets: [{sha256: "%s"}]}]
authorization_details_types:
  - {type: payment, api_resource: payments, schema: {properties: {amount: {type: integer}}}}
""" % ("0" * 64)


def test_another_process_reads_the_same() -> None:
    here, there = load_to_serve(EXAMPLE, {}), apart.read(EXAMPLE, {})
    assert there.registry == here.registry
    assert there.server == here.server
    assert there.files.now() == here.files.now()
    assert there.places == here.places


def test_schema_of_authorization_details_is_compiled_again(
    read: Callable[..., Configuration], file: Path
) -> None:
    read(DETAILS)
    payment = apart.read(file, {}).registry.authorization_details_types["payment"]
    assert payment.find_fault({"type": "payment", "amount": 1}) is None
    assert payment.find_fault({"type": "payment", "amount": "1"}) == "#/properties/amount/type"


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


def test_process_that_does_not_start_is_a_problem(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", str(file.with_name("missing")))
    opened = len([*Path("/proc/self/fd").iterdir()])
    with pytest.raises(ConfigError, match="cannot be read by another process: No such file"):
        apart.read(file, {})
    assert len([*Path("/proc/self/fd").iterdir()]) == opened


def test_too_many_open_files_are_a_problem(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "pipe", Mock(side_effect=OSError(EMFILE, "Too many open files")))
    with pytest.raises(ConfigError, match="cannot be read by another process: Too many open files"):
        apart.read(file, {})


def test_signal_to_all_processes_of_the_service_does_not_refuse_a_reload(file: Path) -> None:
    """A supervisor, or Ctrl-C, stops them together; the file has done nothing wrong."""
    file.with_name("stopping.py").write_text(
        "import os, signal\nos.killpg(os.getpgid(os.getppid()), signal.SIGTERM)"
    )
    file.write_text(
        "issuer: https://auth.example.com\nextension_grants: [{handler: 'stopping:Grant'}]\n"
    )
    program = (
        "import signal; signal.signal(signal.SIGTERM, lambda *_: print('stopping')); "
        f"from pathlib import Path; from service.cli import apart; apart.read(Path({str(file)!r}), {{}})"
    )
    told = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": os.pathsep.join((str(file.parent), *sys.path))},
        start_new_session=True,
        check=False,
        capture_output=True,
        text=True,
    )
    assert told.stdout == "stopping\n"
    assert "stopping:Grant" in told.stderr
    assert "ended before it was done" not in told.stderr


def test_answer_of_another_release_is_a_problem(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may take the place of this release in a process's folder while that serves."""
    other = file.with_name("other")
    other.write_text(
        f"#!{sys.executable}\nimport os, re, sys\n"
        r"sending = int(re.search(r'answer\((\d+)', sys.argv[2])[1])"
        "\nos.write(sending, b'cservice.later\\nConfiguration\\n.')\n"
    )
    other.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(other))
    with pytest.raises(ConfigError, match="another release"):
        apart.read(file, {})


def test_nothing_is_read_by_a_release_installed_since(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its output may have other members, which would be taken for the ones at their places here."""
    file.write_text("issuer: https://auth.example.com\n")
    assert apart.read(file, {}).issuer == "https://auth.example.com"
    monkeypatch.setattr(apart, "INSTALLED", (0, 0))
    with pytest.raises(ConfigError, match="another release"):
        apart.read(file, {})


def test_change_is_seen_after_a_process_that_died(file: Path) -> None:
    file.write_text("issuer: https://auth.example.com\n")

    def die() -> Configuration:
        raise ConfigError([Problem(file=str(file), message="it ended")])

    registry = ReloadableRegistry(load_to_serve(file, {}), read=die, emit=lambda _: None)
    assert not registry.reload()
    file.write_text("issuer: https://auth.example.com/changed\n")
    assert registry.files.differ_from(registry.files.now())
