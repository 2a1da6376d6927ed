"""A browser in front of the built-in pages."""

from __future__ import annotations

import pytest

from tests.pages.screens import Browser


@pytest.fixture(scope="session")
def browser() -> Browser:
    return Browser()
