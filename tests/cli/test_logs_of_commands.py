"""A command prints its result to standard output, and everything else as JSON to standard error."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

NOBODY_LISTENS = "redis://127.0.0.1:1"


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """The program as an operator calls it, in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "service", *arguments], capture_output=True, check=False, text=True
    )


@pytest.mark.parametrize(
    "command", [("keys", "list"), ("explain", "token")], ids=["keys", "explain"]
)
def test_unavailable_store_is_logged_on_standard_error(
    config_file: str, command: tuple[str, ...]
) -> None:
    ran = run(*command, "--config", config_file, "--store", NOBODY_LISTENS)
    *logged, said = ran.stderr.splitlines()
    assert (ran.returncode, ran.stdout) == (3, "")
    assert said.startswith("Error: ")
    assert [json.loads(line)["level"] for line in logged] == ["warning"]
