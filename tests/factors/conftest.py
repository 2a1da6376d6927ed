"""A person with an authenticator app and recovery codes."""

from __future__ import annotations

import pytest

from tests.driving.browser import Page
from tests.driving.client_app import ClientApp
from tests.driving.service import RunningService
from tests.factors.phone import Phone

PATH = "/account/second-factor"


@pytest.fixture
async def phone(service: RunningService) -> Phone:
    """Alice's."""
    phone = Phone()
    await phone.enrol(service)
    return phone


@pytest.fixture
async def half(app: ClientApp, phone: Phone) -> Page:
    """The page of the second factor, after Alice's password."""
    page = await app.login()
    assert page.path == PATH, phone
    return page
