"""The page for a user outside the client's allowed users says so of the present user only (RFC 6749 §4.1.2.1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.allowed_users.paths import PAGE, World
from tests.driving.browser import Page
from tests.driving.registry import client_in

pytestmark = [pytest.mark.rfc("6749#4.1.2.1"), pytest.mark.usefixtures("one_store")]


@pytest.fixture
def config(config: dict[str, Any]) -> dict[str, Any]:
    client_in(config, "web")["allowed_users"] = [{"groups": ["owners"]}]
    return config


@pytest.fixture
async def refusing(world: World) -> Page:
    """The page that refuses alice."""
    page = await world.app().login()
    assert page.path == PAGE
    return page


async def test_back_to_the_client_tells_it_that_access_was_denied(
    world: World, refusing: Page
) -> None:
    page = await world.browser.submit(refusing, action="cancel")
    assert (page.error, page.parameters["state"]) == ("access_denied", "the-state")


async def test_an_old_page_does_not_refuse_a_user_who_may_use_the_client(
    world: World, refusing: Page, reload: Callable[..., None]
) -> None:
    reload(lambda config: client_in(config, "web").pop("allowed_users"))
    page = await world.browser.submit(refusing, action="cancel")
    assert page.error is None
    assert "code" in page.parameters


async def test_the_page_leads_on_a_user_who_may_use_the_client(
    world: World, refusing: Page, reload: Callable[..., None]
) -> None:
    reload(lambda config: client_in(config, "web").pop("allowed_users"))
    assert "code" in (await world.browser.get(refusing.url)).parameters
