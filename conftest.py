"""Which plugins the tests of this repository load, and where else than in test files an assertion explains itself."""

from __future__ import annotations

import gc
import os
import sys
from pathlib import Path

import pytest

# Where scripts/go-tools and scripts/debian-program put programs, and where Debian keeps servers.
os.environ["PATH"] += f"{os.pathsep}{Path(__file__).parent / 'build/bin'}{os.pathsep}/usr/sbin"

pytest_plugins = ("tests.requirements",)
pytest.register_assert_rewrite("tests.certification")

# Many processes are started from these files, and each of them would compile them all anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False


def pytest_collection_finish() -> None:
    """Keep the garbage collector from going through all tests and modules again and again."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(5_000, 20, 20)
