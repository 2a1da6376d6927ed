"""Which plugins the tests of this repository load."""

from __future__ import annotations

pytest_plugins = ("tests.requirements",)
