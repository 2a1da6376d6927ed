"""Which plugins the tests of this repository load, and where else than in test files an assertion explains itself."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

# What scripts/kustomize and scripts/promtool made, too, is found by tests that need it.
os.environ["PATH"] += os.pathsep + str(Path(__file__).parent / "build" / "bin")

pytest_plugins = ("tests.requirements",)
pytest.register_assert_rewrite("tests.certification")
