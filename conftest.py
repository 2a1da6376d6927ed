"""Which plugins the tests of this repository load, and where else than in test files an assertion explains itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# Where scripts/go-tools and scripts/debian-program put programs, and where Debian keeps servers.
os.environ["PATH"] += f"{os.pathsep}{Path(__file__).parent / 'build/bin'}{os.pathsep}/usr/sbin"

pytest_plugins = ("tests.requirements",)
pytest.register_assert_rewrite("tests.certification")
