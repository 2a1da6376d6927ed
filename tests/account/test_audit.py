"""Every change that a user makes at the own account is in the audit log, with the user (ASVS 16.3)."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from tests.ciba.consumption import Device, ciba_client, open_request
from tests.driving.browser import Browser, Page
from tests.driving.client_app import ClientApp
from tests.driving.registry import client_in, fresh_configuration
from tests.factors.phone import ALICE
from tests.factors.test_enrolment import enrol
from tests.factors.test_nobody_by_password_alone import TEMPLATES

SECURITY = "/account/security"
PAGES = ("account", "security", "request", "add_factor", "add_factor_otp", "add_factor_passkey")


@pytest.fixture
def config() -> dict[str, Any]:
    configuration = fresh_configuration()
    secrets = client_in(configuration, "web")["client_secrets"]
    configuration["clients"].append(ciba_client("till", secrets))
    return configuration


async def log_in(app: ClientApp, path: str) -> Page:
    """Open a page of the account after a login, in which a client was granted something."""
    await app.tokens(scope="openid api1")
    return await app.browser.log_in(await app.browser.get(f"/account/login?return_to={path}"))


async def log_in_with_factor(app: ClientApp) -> Page:
    """Open the page of the factors, with an app."""
    _, done = await enrol(app.browser, await log_in(app, SECURITY))
    return await app.browser.get(done.element("continue")["href"] or "")


async def end_session(app: ClientApp, action: str = "end-session") -> None:
    other = Browser(app.service.issuer)
    await ClientApp(app.service, other).login()
    await other.close()
    await app.browser.submit(await log_in(app, "/account"), action=action)


async def end_other_sessions(app: ClientApp) -> None:
    await end_session(app, "end-other-sessions")


async def revoke(app: ClientApp) -> None:
    page = await log_in(app, "/account")
    await app.browser.submit(page, session=None, client_id="web", action="revoke")


async def add(app: ClientApp) -> None:
    await enrol(app.browser, await log_in(app, SECURITY))


async def rename(app: ClientApp) -> None:
    await app.browser.submit(await log_in_with_factor(app), action="rename", name="Blue")


async def remove(app: ClientApp) -> None:
    await app.browser.submit(await log_in_with_factor(app), action="remove", factor="otp")


async def renew_recovery_codes(app: ClientApp) -> None:
    await app.browser.submit(await log_in_with_factor(app), action="renew-recovery-codes")


async def allow(app: ClientApp, action: str = "allow") -> None:
    page = await open_request(app.browser, await Device(app.service).begin())
    await app.browser.submit(page, action=action)


async def deny(app: ClientApp) -> None:
    await allow(app, "deny")


CHANGES: dict[str, tuple[Callable[[ClientApp], Awaitable[None]], str]] = {
    "end-session": (end_session, "SessionEnded"),
    "end-other-sessions": (end_other_sessions, "SessionEnded"),
    "revoke": (revoke, "AuthorizationEnded"),
    "confirm": (add, "FactorEnrolled"),
    "rename": (rename, "FactorRenamed"),
    "remove": (remove, "FactorRemoved"),
    "renew-recovery-codes": (renew_recovery_codes, "RecoveryCodesRenewed"),
    "allow": (allow, "CibaApproved"),
    "deny": (deny, "CibaDenied"),
}


def test_every_button_of_the_account_is_known_here() -> None:
    texts = [(TEMPLATES / f"{name}.html").read_text() for name in PAGES]
    texts.append((TEMPLATES / "components.html").read_text().partition("macro decision")[2])
    buttons = re.findall(r'(?:name="action" value=|form\()"([a-z-]+)"', "\n".join(texts))
    assert set(buttons) - {"cancel"} == CHANGES.keys()


@pytest.mark.parametrize("button", CHANGES)
async def test_every_change_is_in_the_audit_log(app: ClientApp, button: str) -> None:
    change, expected = CHANGES[button]
    await change(app)
    told = [event for event in app.service.events if type(event).__name__ == expected]
    assert {getattr(event, "subject", None) for event in told} == {ALICE}
