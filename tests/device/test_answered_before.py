"""Only the answer that counted is confirmed; a later one gets a page that says that it was answered (RFC 8628 §3.3)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.device.tv import Television
from tests.driving.browser import Browser
from tests.driving.service import RunningService

pytestmark = pytest.mark.rfc("8628#3.3")


@pytest.fixture
async def other(service: RunningService, tv: Television) -> AsyncIterator[Television]:
    """The same request in another person's browser."""
    browser = Browser(service.issuer)
    yield Television(service, browser, tv.client_id, tv.codes)
    await browser.close()


@pytest.mark.parametrize("first", ["allow", "deny"])
@pytest.mark.parametrize("second", ["allow", "deny"])
async def test_a_later_answer_is_told_that_it_came_too_late(
    tv: Television, other: Television, first: str, second: str
) -> None:
    late = await other.confirmation("bob")
    done = await tv.decide(first)
    told = await other.browser.submit(late, action=second)
    assert done.has("device-done")
    assert (told.has("device-done"), told.has("device-answered")) == (False, True)


async def test_a_page_that_is_loaded_after_another_answer_says_so(
    tv: Television, other: Television
) -> None:
    late = await other.confirmation("bob")
    await tv.decide()
    told = await other.browser.get(late.url)
    assert (told.has("device-done"), told.has("device-answered")) == (False, True)
