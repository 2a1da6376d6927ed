"""A real browser connects a device: by typing its code, and by the link that a QR code holds (RFC 8628 §3.3)."""

from __future__ import annotations

from collections.abc import AsyncIterator
from copy import deepcopy
from typing import Any

import pytest

from tests.browser.conftest import PHONE, Person
from tests.device.tv import TELEVISIONS, Television
from tests.driving.browser import Browser
from tests.driving.chromium import CHROMIUM
from tests.driving.registry import fresh_configuration
from tests.driving.service import RunningService

pytestmark = [pytest.mark.needs(CHROMIUM), pytest.mark.rfc("8628#3.3", "8628#3.3.1")]


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    configuration["clients"] += deepcopy(TELEVISIONS)
    return configuration


@pytest.fixture
async def television(service: RunningService) -> AsyncIterator[Television]:
    """One that shows its code, and has no browser in front of it."""
    nobody = Browser(service.issuer)
    yield await Television.switch_on(service, nobody)
    await nobody.close()


async def test_a_keyboard_is_enough_to_connect_a_device(
    person: Person, television: Television
) -> None:
    await person.page.goto(f"{person.issuer}/device")
    keyboard = person.page.keyboard
    await person.page.wait_for_selector("#user_code:focus")
    await keyboard.type(television.codes["user_code"].lower())
    await keyboard.press("Enter")
    await person.page.wait_for_selector("#username:focus")
    await keyboard.type("alice")
    await keyboard.press("Tab")
    await keyboard.type("alice-password")
    await keyboard.press("Enter")
    await person.page.wait_for_selector("#device-allow")
    assert "Living room" in await person.sees("main")
    await person.page.focus("#device-allow")
    await keyboard.press("Enter")
    assert await person.sees("#device-done")
    assert (await television.poll()).status == 200


@pytest.mark.parametrize(
    "person",
    [{"viewport": PHONE, "is_mobile": True, "java_script_enabled": False}],
    indirect=True,
    ids=["on a phone, without JavaScript"],
)
async def test_the_link_of_a_device_asks_before_it_is_connected(
    person: Person, television: Television
) -> None:
    await person.page.goto(television.codes["verification_uri_complete"])
    await person.logs_in()
    assert television.codes["user_code"] in await person.sees("main")
    assert not await person.overflows()
    assert (await television.poll()).error == "authorization_pending"
    await person.page.click("#device-deny")
    assert await person.sees("#device-done")
    assert not await person.overflows()


async def test_a_wrong_code_is_told_and_may_be_mended(
    person: Person, television: Television
) -> None:
    await person.page.goto(f"{person.issuer}/device")
    await person.page.fill("#user_code", "BBBB-BBBB")
    await person.page.click("#device-continue")
    assert await person.sees("#device-error")
    await person.page.fill("#user_code", television.codes["user_code"])
    await person.page.click("#device-continue")
    assert await person.page.is_visible("#username")
