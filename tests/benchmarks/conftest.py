"""The benchmark as its user runs it: a program with arguments."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]


@pytest.fixture
def measured(tmp_path: Path) -> Callable[..., str]:
    """Run it for as short as it can and give what it prints; results lie in `tmp_path`."""

    def run(*arguments: str) -> str:
        short = ["--rounds", "1", "--seconds", "1", "--results", str(tmp_path)]
        command = [sys.executable, "-m", "benchmarks", *arguments, *short]
        ended = subprocess.run(
            command, cwd=REPOSITORY, capture_output=True, text=True, timeout=120, check=True
        )
        return ended.stdout

    return run
