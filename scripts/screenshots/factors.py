"""Visits the pages of second factors and passkeys, as a person who enrols and uses them."""

from __future__ import annotations

import pyotp

from scripts.screenshots.tour import Tour

AUTHENTICATOR = {
    "protocol": "ctap2",
    "transport": "internal",
    "hasResidentKey": True,
    "hasUserVerification": True,
    "isUserVerified": True,
    "automaticPresenceSimulation": True,
}
"""An authenticator of Chromium (WebAuthn §11) that needs no touch."""


def visit_factors(tour: Tour) -> None:
    """Enrol, manage and use second factors as Bob."""
    tour.ask("strict", scope="openid")
    sign_in(tour)
    tour.keep("second-factor-missing")
    tour.open("/account/security")
    sign_in(tour)
    tour.keep("security-none")
    codes = enrol_app(tour)
    enrol_passkey(tour)
    tour.keep("security")
    tour.page.click("li[data-factor=passkey] summary")
    tour.keep("security-change")
    use_factors(tour.with_new_browser(), codes[0])


def sign_in(tour: Tour) -> None:
    """Give the first factor."""
    tour.sign_in(username="bob", password="bob")


def enrol_app(tour: Tour) -> list[str]:
    """Set up an authenticator app, and return the recovery codes."""
    page = tour.page
    page.click("#add-otp")
    tour.keep("add-factor-otp")
    secret = page.inner_text("#totp-secret").replace(" ", "")
    page.fill("#otp", "000000")
    page.click("#confirm")
    tour.keep("add-factor-otp-error")
    page.fill("#otp", pyotp.TOTP(secret).now())
    page.fill("#factor-name", "Phone")
    page.click("#confirm")
    tour.keep("recovery-codes")
    codes = page.locator("#recovery-codes li").all_inner_texts()
    page.click("#continue")
    return codes


def enrol_passkey(tour: Tour) -> None:
    """Make a passkey, first in vain: the page asks the authenticator at once."""
    page = tour.page
    page.click("#add-passkey")
    page.wait_for_selector("button#add-passkey")
    tour.keep("add-factor-passkey")
    chromium = page.context.new_cdp_session(page)
    chromium.send("WebAuthn.enable")
    chromium.send("WebAuthn.addVirtualAuthenticator", {"options": AUTHENTICATOR})
    page.reload()
    page.wait_for_selector("li[data-factor=passkey]")


def use_factors(tour: Tour, recovery_code: str) -> None:
    """Sign in anew, and see every method."""
    page = tour.page
    tour.ask()
    sign_in(tour)
    tour.keep("second-factor-passkey")
    choose(tour, "otp")
    page.click("#use-another-method")
    tour.keep("second-factor-otp-others")
    page.click("#use-another-method")
    tour.keep("second-factor-otp")
    page.fill("#otp", "000000")
    page.click("#confirm")
    tour.keep("second-factor-otp-error")
    choose(tour, "recovery_code")
    tour.keep("second-factor-recovery-code")
    page.fill("#recovery-code", recovery_code)
    page.click("#confirm")
    page.wait_for_selector("#recovery-codes-left")
    tour.keep("recovery-code-used")
    page.context.close()


def choose(tour: Tour, method: str) -> None:
    """Take another method than the one that is offered first."""
    tour.page.click("#use-another-method")
    tour.page.click(f"a[data-method={method}]")
