"""Takes pictures of every page into build/screenshots, and those of docs/: `make screenshots`, where Chromium is installed.

A service in memory is driven as a person would, in English and in Arabic, or in the languages that are named:
`python -m scripts.screenshots de ja`.
"""

from __future__ import annotations

import json
import shutil
import sys

import yaml
from playwright.sync_api import Browser, sync_playwright

from scripts.screenshots.console import visit_console
from scripts.screenshots.factors import visit_factors
from scripts.screenshots.tour import (
    DESKTOP,
    ON_A_PHONE,
    REPOSITORY,
    SCREENSHOTS,
    SHOWN,
    Tour,
    running_service,
)

PAYMENT = {"type": "payment", "amount": "30.00 EUR", "creditor": "Garden Tools Ltd"}
CLAIMS = {"userinfo": {"email": None, "birthdate": None}}


def main(languages: list[str]) -> None:
    """Visit every page in these languages."""
    shutil.rmtree(SCREENSHOTS, ignore_errors=True)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
            args=["--no-sandbox", "--disable-gpu"],
        )
        for language in languages or SHOWN:
            with running_service() as (issuer, console):
                tour = Tour(chromium, issuer, language)
                visit_pages(tour)
                if language == "en":  # which the console alone speaks
                    visit_console(tour.with_new_browser(), console)
        if not languages:
            visit_theme(chromium)


def visit_pages(tour: Tour) -> None:
    """See every page once."""
    visit_login(tour)
    visit_further_consents(tour)
    visit_device(tour)
    visit_requests(tour)
    visit_account(tour)
    visit_factors(tour.with_new_browser())
    visit_errors(tour)
    visit_logout(tour)
    visit_demonstration(tour)


def visit_login(tour: Tour) -> None:
    """Sign in."""
    tour.ask("spa", acr_values="tenant:acme", scope="openid")
    tour.keep("login-tenant")
    tour.ask()
    tour.keep("login")
    tour.sign_in(password="wrong")
    tour.keep("login-error")
    for _ in range(2):
        tour.sign_in(password="wrong", username="nobody")
    tour.keep("login-wait")
    tour.sign_in(password="alice")
    tour.keep("consent")
    tour.page.click("#consent-allow")


def visit_account(tour: Tour) -> None:
    """See the account, with another session of the same person."""
    phone = tour.with_new_browser(ON_A_PHONE)
    phone.ask()
    phone.sign_in(password="alice")
    phone.page.wait_for_selector("#sessions")
    phone.page.close()
    tour.open("/account")
    tour.keep("account")
    tour.page.click("li[data-client=web] summary")
    tour.keep("account-remove")


def visit_logout(tour: Tour) -> None:
    """Sign out, at a client that is told by a frame, and without one."""
    back = f"{tour.issuer}/account"
    tour.open("/connect/endsession", client_id="web", post_logout_redirect_uri=back)
    tour.keep("logout-client")
    tour.page.click("#logout-confirm")
    tour.page.wait_for_selector("#logout-continue")
    tour.keep("logged-out-client")
    tour.ask()
    tour.sign_in(password="alice")
    tour.open("/connect/endsession")
    tour.keep("logout")
    tour.page.click("#logout-confirm")
    tour.keep("logged-out")


def visit_demonstration(tour: Tour) -> None:
    """Follow the story of the start page."""
    page = tour.page
    tour.open("/")
    tour.keep("demonstration")
    page.click("a[data-person=alice]")
    tour.sign_in(password="alice")
    page.wait_for_selector("#step-delegated")
    tour.keep("delegation")
    if tour.language == "en":
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(DESKTOP)
        tour.publish("delegation", "#step-not-addressed", "#step-delegated")


def visit_theme(chromium: Browser) -> None:
    """See the login page as examples/theme makes it."""
    readme = (REPOSITORY / "examples/theme/README.md").read_text()
    settings = readme.partition("```yaml")[2].partition("```")[0]
    ui = yaml.safe_load(settings.replace("examples/theme", str(REPOSITORY / "examples/theme")))[
        "ui"
    ]
    with running_service(**ui) as (issuer, _):
        tour = Tour(chromium, issuer, "en")
        tour.ask()
        tour.page.set_viewport_size({"width": 1024, "height": 840})
        tour.publish("theme")


def visit_further_consents(tour: Tour) -> None:
    """See the pages for a signed-in person."""
    tour.ask(prompt="select_account")
    tour.keep("select-account")
    tour.ask(prompt="consent", scope="openid", authorization_details=json.dumps([PAYMENT]))
    tour.page.click(".detail summary")
    tour.keep("consent-payment")
    tour.ask(prompt="consent", scope="openid", claims=json.dumps(CLAIMS))
    tour.keep("consent-claims")
    without_script = tour.without_script()
    without_script.ask(prompt="none", response_mode="form_post")
    without_script.keep("form-post")
    tour.ask("staff", scope="openid")
    tour.keep("not-allowed")
    stranger = {"client_name": "Photo Prints", "redirect_uris": ["https://prints.example/callback"]}
    client_id = tour.post("/connect/register", data=stranger)["client_id"]
    tour.ask(client_id, redirect_uri=stranger["redirect_uris"][0], scope="openid email")
    tour.keep("consent-stranger")


def visit_device(tour: Tour) -> None:
    """Connect a television."""
    tour.open("/device")
    tour.keep("device")
    enter(tour, "WRNG-CODE")
    tour.keep("device-error")
    for answer in ("deny", "allow"):
        form = {"client_id": "tv", "scope": "openid profile api1"}
        user_code = tour.post("/connect/deviceauthorization", form=form)["user_code"]
        tour.open("/device")
        enter(tour, user_code)
        tour.keep("device-confirm")
        tour.page.click(f"#device-{answer}")
        tour.keep("device-done" if answer == "allow" else "device-refused")


def enter(tour: Tour, user_code: str) -> None:
    """Type what a device shows."""
    tour.page.fill("#user_code", user_code)
    tour.page.click("#device-continue")


def visit_requests(tour: Tour) -> None:
    """Answer a till."""
    form = {
        "scope": "openid profile",
        "login_hint": "alice",
        "binding_message": "Till 7, 30.00 EUR",
    }
    tour.post("/connect/ciba", user="till", form=form)
    tour.open("/account/requests")
    tour.keep("requests")
    tour.page.click("li[data-request] a")
    tour.keep("request")
    tour.page.click("#request-deny")
    tour.keep("requests-none")


def visit_errors(tour: Tour) -> None:
    """See what goes wrong."""
    tour.ask("unknown")
    tour.keep("error")
    tour.open("/account/consent", request="unknown")
    tour.keep("sign-in-over")
    tour.open("/nowhere")
    tour.keep("not-found")


if __name__ == "__main__":
    main(sys.argv[1:])
