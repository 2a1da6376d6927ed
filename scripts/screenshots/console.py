"""Visits the admin console, as an operator who looks at everything and changes nothing."""

from __future__ import annotations

from urllib.parse import urlencode

from scripts.screenshots.tour import ON_A_PHONE, Tour


def visit_console(tour: Tour, console: str) -> None:
    """See every page of the console."""
    phone = tour.with_new_browser(ON_A_PHONE)
    phone.ask()
    phone.sign_in(password="alice")
    page = tour.page
    page.goto(console)
    tour.sign_in(password="alice")
    page.wait_for_selector("#registry-panel")
    tour.keep("console-overview")
    pages = {
        "console-clients": "/clients",
        "console-client": "/client?id=web",
        "console-api": "/api?name=api1",
        "console-registered-clients": "/registered-clients",
        "console-users": "/users",
        "console-user": "/users?" + urlencode({"by": "username", "text": "alice"}),
        "console-outbox": "/outbox?state=dead",
        "console-explain": "/explain",
        "console-refusal": "/client?id=nobody",
    }
    for name, path in pages.items():
        page.goto(console + path)
        tour.keep(name)
    page.goto(console + pages["console-user"])
    page.click("[data-change=end-sessions]")
    tour.keep("console-confirm")
    page.goto(f"{console}/explain")
    page.fill("#subject", "at_made-up")
    page.click("main button")
    page.wait_for_selector("#explained")
    tour.keep("console-explained")
    phone.page.close()
