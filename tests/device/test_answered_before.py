"""Only the answer that counted is confirmed; a later one gets a page that says that it was answered (RFC 8628 §3.3)."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.conftest import Clock
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


@pytest.mark.parametrize("first", ["allow", "deny"])
async def test_a_later_cancelled_login_is_told_that_it_came_too_late(
    tv: Television, other: Television, first: str
) -> None:
    late = await other.enter()
    assert late.has("login")
    await tv.decide(first)
    told = await other.browser.submit(late, action="cancel")
    assert (told.status, told.has("device-answered")) == (200, True)


async def test_a_user_whose_access_has_ended_before_may_allow_it(
    tv: Television, service: RunningService, clock: Clock
) -> None:
    await service.features.shared.user_ending.end("818727")
    clock.forward(seconds=1)
    assert (await tv.decide()).has("device-done")
    clock.forward(seconds=5)
    assert (await tv.poll()).status == 200
