"""A person's passkeys: authenticators in software, in front of the pages that ask for them."""

from __future__ import annotations

import json
from typing import Any

from fido2.utils import websafe_encode
from msgspec.structs import replace

from service.identity.factors.passkey_challenges import Asking
from service.model.factors import Factors
from tests.driving.authenticator import Authenticator
from tests.driving.browser import Browser, Page
from tests.driving.service import RunningService
from tests.factors.phone import ALICE


async def enrol(
    service: RunningService, *, sub: str = ALICE, **authenticator: Any
) -> Authenticator:
    """Let the person have a passkey, as after the enrolment long ago."""
    passkeys, owners = _parts(service)
    mine = Authenticator(origin=service.issuer, **authenticator)
    asking = Asking(purpose="enrolment", browser="browser", subject=sub)
    options = await passkeys.ask_for_new(asking, username="alice", display_name="Alice", known=())
    answer = await passkeys.open(asking, json.dumps(mine.create(options)))
    passkey = passkeys.register(asking, answer, name="Key")
    assert await owners.claim(passkey.credential_id, sub)

    def add(factors: Factors) -> Factors:
        return replace(factors, passkeys=(*factors.passkeys, passkey))

    assert await service.features.shared.factors.change(sub, add)
    return mine


async def remove(service: RunningService, mine: Authenticator, sub: str = ALICE) -> None:
    """Let the person have no passkey any more."""
    _, owners = _parts(service)
    await owners.release(websafe_encode(mine.credential_id))

    def forget(factors: Factors) -> Factors:
        return replace(factors, passkeys=())

    assert await service.features.shared.factors.change(sub, forget)


def options_in(page: Page, button: str = "passkey") -> Any:
    """The options that the page passes to the browser."""
    return json.loads(page.element(button)["data-options"] or "")


async def use(browser: Browser, page: Page, mine: Authenticator) -> Page:
    """Press the button, and touch the authenticator."""
    return await send(browser, page, mine.use(options_in(page)))


async def send(browser: Browser, page: Page, response: Any, **fields: str) -> Page:
    """Post a response of an authenticator, as the script does."""
    return await browser.submit(page, 0, **{"passkey": json.dumps(response), **fields})


def _parts(service: RunningService) -> Any:
    sign_in = service.features.passkey_sign_in
    assert sign_in is not None
    return sign_in.used.passkeys, sign_in.used.owners
