"""Second factors are enrolled, used and changed with the keyboard alone, with a script and without (WCAG 2.2 §2.1.1)."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from tests.browser.conftest import Person
from tests.driving.chromium import CHROMIUM
from tests.driving.service import RunningService
from tests.factors.phone import Phone

pytestmark = [
    pytest.mark.needs(CHROMIUM),
    pytest.mark.parametrize(
        "person",
        [{}, {"java_script_enabled": False}],
        indirect=True,
        ids=["with a script", "without a script"],
    ),
]


async def test_keyboard_is_enough_to_enrol_and_change_an_app(person: Person) -> None:
    keyboard = person.page.keyboard
    await person.page.goto(f"{person.issuer}/account/security")
    await person.types_password()
    await person.page.wait_for_selector("#add-otp")
    await person.tabs_to("#add-otp", "Enter")
    phone = Phone(secret=(await person.sees("#totp-secret")).replace(" ", ""))
    await person.tabs_to("#otp")
    await keyboard.type(phone.code())
    await keyboard.press("Enter")
    await person.page.wait_for_selector("#recovery-codes")
    await downloads_and_prints_the_codes(person)
    await person.tabs_to("#continue", "Enter")
    await person.page.wait_for_selector("li[data-factor=otp]")
    await person.tabs_to("li[data-factor=otp] summary", "Enter")
    await person.tabs_to("li[data-factor=otp] input[name=name]")
    await keyboard.type("My phone")
    await keyboard.press("Enter")
    await person.page.wait_for_selector('li[data-factor=otp] h3 bdi:text-is("My phone")')
    await person.tabs_to("li[data-factor=otp] summary", "Enter")
    await person.tabs_to("li[data-factor=otp] button[value=remove]", "Enter")
    await person.page.wait_for_selector("li[data-factor=otp]", state="detached")


async def downloads_and_prints_the_codes(person: Person) -> None:
    """Save the codes in a file, and look at what a printer gets."""
    codes = (await person.sees("#recovery-codes")).split()
    async with person.page.expect_download() as downloading:
        await person.tabs_to("#download", "Enter")
    download = await downloading.value
    text = await asyncio.to_thread(Path(await download.path()).read_text)
    assert (download.suggested_filename, text.split()[-10:]) == ("recovery-codes.txt", codes)
    await person.page.emulate_media(media="print")
    assert await person.page.is_visible("#recovery-codes")
    assert not await person.page.is_visible("#continue")
    await person.page.emulate_media(media="screen")


async def test_keyboard_is_enough_for_a_code(person: Person, service: RunningService) -> None:
    phone = Phone()
    await phone.enrol(service)
    await person.asks()
    await person.types_password()
    await person.page.wait_for_selector("#otp:focus")
    await person.page.keyboard.type(phone.code())
    await person.page.keyboard.press("Enter")
    assert await person.sees("#consent-allow") == "Allow"


async def test_keyboard_is_enough_for_a_recovery_code_instead(
    person: Person, service: RunningService
) -> None:
    phone = Phone()
    await phone.enrol(service)
    await person.asks()
    await person.types_password()
    await person.page.wait_for_selector("#otp:focus")
    await person.tabs_to("#use-another-method", "Enter")
    await person.tabs_to("a[data-method=recovery_code]", "Enter")
    await person.page.wait_for_selector("#recovery-code:focus")
    await person.page.keyboard.type(phone.recovery_codes[0])
    await person.page.keyboard.press("Enter")
    assert "9" in await person.sees("#recovery-codes-left")
    await person.tabs_to("#continue", "Enter")
    assert await person.sees("#consent-allow") == "Allow"
