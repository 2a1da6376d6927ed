"""A second browser, and the account page as its reader sees it."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.driving.browser import Browser
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService


@pytest.fixture
async def other_browser(service: RunningService) -> AsyncIterator[Browser]:
    """A browser that knows nothing of the first one."""
    browser = Browser(service.issuer)
    yield browser
    await browser.close()


@pytest.fixture
def other_app(service: RunningService, other_browser: Browser) -> ClientApp:
    """The client `web` in the other browser."""
    return ClientApp(service, other_browser)
