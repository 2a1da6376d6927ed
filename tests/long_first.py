"""Begins with the tests that take longest, so that at the end no worker is alone with one of them."""

from __future__ import annotations

import pytest

LONG = (
    "tests/benchmarks/",
    "tests/browser/test_accessibility.py",
    "tests/browser/test_console_pages.py",
    "tests/browser/test_widths.py",
    "tests/documentation/test_project_files.py",
    "tests/installing/",
    "tests/proxies/test_rolling_restarts.py",
    "tests/scale/test_rolling.py",
    "tests/store/test_life_cycle.py",
    "tests/store/test_long_turns.py",
    "tests/takeover/test_hostile_realms.py",
    "tests/takeover/test_many_users.py",
)
"""Files and folders in which a test takes more than ten seconds of a busy machine."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the order of all others."""
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))
