"""A real browser makes passkeys and signs in by them (WebAuthn §7.1, §7.2)."""

from __future__ import annotations

import json

import pytest

from service.events.factors import PasskeyRejected
from service.events.users import SessionStarted
from tests.browser.conftest import Person
from tests.browser.virtual_authenticator import VirtualAuthenticator
from tests.driving.browser import Browser
from tests.driving.chromium import CHROMIUM
from tests.driving.service import RunningService
from tests.factors.keyring import options_in, send

pytestmark = [pytest.mark.needs(CHROMIUM), pytest.mark.rfc("webauthn#7.1", "webauthn#7.2")]

SECURITY = "/account/security"


@pytest.fixture
async def authenticator(request: pytest.FixtureRequest, person: Person) -> VirtualAuthenticator:
    """One that keeps passkeys and verifies the person, or as the test says."""
    abilities: dict[str, bool] = getattr(request, "param", {})
    return await VirtualAuthenticator.attach(person.context, person.page, **abilities)


lacking = pytest.mark.parametrize(
    "authenticator",
    [{"resident": False}, {"verifies": False}],
    indirect=True,
    ids=["keeps no passkeys", "verifies nobody"],
)


async def enrol(person: Person, authenticator: VirtualAuthenticator) -> None:
    """Sign in by password, add a passkey at the security page, and come back as nobody."""
    await person.page.goto(person.issuer + SECURITY)
    await person.logs_in()
    await person.page.click("#add-passkey")
    await person.sees("#recovery-codes")
    await person.page.click("#continue")
    assert "Passkey" in await person.sees("li[data-factor=passkey]")
    assert len(await authenticator.credentials()) == 1
    await person.context.clear_cookies()


async def ignores_autofill(person: Person) -> None:
    """Take no passkey from the user name field, where the virtual authenticator would take it at once."""
    await person.page.add_init_script(
        "PublicKeyCredential.isConditionalMediationAvailable = async () => false"
    )


def amr(service: RunningService) -> tuple[str, ...]:
    """The methods of the last sign-in."""
    return [event for event in service.events if isinstance(event, SessionStarted)][-1].amr


async def test_passkey_is_offered_in_the_user_name_field(
    person: Person, authenticator: VirtualAuthenticator, service: RunningService
) -> None:
    await enrol(person, authenticator)
    await person.asks()
    assert await person.sees("#consent-allow") == "Allow"
    assert amr(service) == ("hwk", "user", "mfa")


async def test_passkey_is_used_alone_by_its_button(
    person: Person, authenticator: VirtualAuthenticator, service: RunningService
) -> None:
    await enrol(person, authenticator)
    await ignores_autofill(person)
    await person.asks()
    await person.page.click("#passkey")
    assert await person.sees("#consent-allow") == "Allow"
    assert amr(service) == ("hwk", "user", "mfa")


@lacking
async def test_authenticator_that_lacks_something_is_a_second_factor_only(
    person: Person, authenticator: VirtualAuthenticator, service: RunningService
) -> None:
    await enrol(person, authenticator)
    await person.asks()
    await person.page.click("#passkey")
    assert await person.sees("#passkey-error")
    await person.logs_in()
    await person.page.click("#passkey")
    assert await person.sees("#consent-allow") == "Allow"
    assert amr(service) == ("pwd", "hwk", "user", "mfa")


async def test_authenticator_is_added_once(
    person: Person, authenticator: VirtualAuthenticator
) -> None:
    await enrol(person, authenticator)
    await person.page.goto(person.issuer + SECURITY)
    await person.page.click("#add-passkey")
    assert await person.sees("#known-passkey")
    assert len(await authenticator.credentials()) == 1


async def test_removed_passkey_is_refused(
    person: Person, authenticator: VirtualAuthenticator
) -> None:
    await enrol(person, authenticator)
    await person.page.goto(person.issuer + SECURITY)
    await person.page.click("li[data-factor=passkey] summary")
    await person.page.click("li[data-factor=passkey] button[value=remove]")
    await person.page.wait_for_selector("li[data-factor=passkey]", state="detached")
    await person.context.clear_cookies()
    await ignores_autofill(person)
    await person.asks()
    await person.page.click("#passkey")
    assert await person.sees("#login-error")


async def test_copy_of_a_passkey_is_refused_by_its_counter(
    person: Person, authenticator: VirtualAuthenticator, service: RunningService
) -> None:
    await enrol(person, authenticator)
    await authenticator.count(5)
    await person.asks()
    await person.sees("#consent-allow")
    await person.context.clear_cookies()
    await authenticator.count(3)
    await ignores_autofill(person)
    await person.asks()
    await person.page.click("#passkey")
    assert await person.sees("#login-error")
    (rejected,) = [event for event in service.events if isinstance(event, PasskeyRejected)]
    assert rejected.reason == "counter"


USE = """async ({ options, decode }) => {
    const bytes = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
    options.challenge = bytes(options.challenge);
    return JSON.stringify((await navigator.credentials.get({ publicKey: options })).toJSON());
}"""


async def test_another_origin_gets_nothing_that_counts_here(
    person: Person, authenticator: VirtualAuthenticator, service: RunningService
) -> None:
    """A page at another port has the same RP ID, and a challenge that somebody else was shown."""
    await enrol(person, authenticator)
    attacker = Browser(service.issuer)
    login = await attacker.get("/account/login")
    await person.page.goto(f"{person.application.url}/bye")
    response = await person.page.evaluate(USE, {"options": options_in(login)})
    page = await send(attacker, login, json.loads(response))
    await attacker.close()
    assert (page.path, page.has("login-error")) == ("/account/login", True)
    (rejected,) = [event for event in service.events if isinstance(event, PasskeyRejected)]
    assert rejected.cause == "Invalid origin in CollectedClientData."


async def test_keyboard_is_enough_for_a_passkey_as_second_factor(
    person: Person, authenticator: VirtualAuthenticator
) -> None:
    await enrol(person, authenticator)
    await ignores_autofill(person)
    await person.asks()
    await person.types_password()
    await person.page.wait_for_selector("#passkey:focus")
    await person.page.keyboard.press("Enter")
    assert await person.sees("#consent-allow") == "Allow"


@pytest.mark.parametrize(
    "person", [{"java_script_enabled": False}], indirect=True, ids=["without JavaScript"]
)
async def test_without_a_script_no_passkey_is_offered(person: Person) -> None:
    await person.page.goto(person.issuer + SECURITY)
    assert not await person.page.is_visible("#passkey")
    await person.logs_in()
    await person.page.click("#add-passkey")
    assert await person.sees("#needs-script")
    assert not await person.page.is_visible("button#add-passkey")
