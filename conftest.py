"""Which plugins the tests of this repository load, and where else than in test files an assertion explains itself."""

from __future__ import annotations

import pytest

pytest_plugins = ("tests.requirements",)
pytest.register_assert_rewrite("tests.certification")
