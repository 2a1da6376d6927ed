"""Visits the admin console, as an operator who looks at everything and changes nothing."""

from __future__ import annotations

from urllib.parse import urlencode

from scripts.screenshots.tour import CONFIGURATION, ON_A_PHONE, Tour

STEADY = """names => {
    const now = Date.now(), day = 86400000, shown = { dateStyle: "medium", timeStyle: "short", timeZone: "UTC" }
    for (const time of document.querySelectorAll("time")) {
        const days = Math.round((new Date(time.dateTime) - now) / day)
        time.textContent = new Date(Date.UTC(2026, 10, 27, 9) + days * day).toLocaleString("en", shown)
        if (!days && time.nextElementSibling) time.nextElementSibling.textContent = "3 minutes ago"
    }
    document.querySelectorAll(":is(th, dd) .id").forEach((id, at) => {
        const letter = (_, place) => "abcdefghijkmnpqrstuvwxyzABCDEFGH23456789"[(at * 17 + place * place * 7 + 3) % 40]
        id.textContent = Array.from(id.textContent, letter).join("")
    })
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (texts.nextNode()) {
        for (const [random, steady] of names) texts.currentNode.data = texts.currentNode.data.replaceAll(random, steady)
    }
}"""
"""Replaces what differs from run to run, so that pictures change when pages do: times, ids, ports and folders."""


def visit_console(tour: Tour, console: str) -> None:
    """See every page of the console."""
    phone = tour.with_new_browser(ON_A_PHONE)
    phone.ask()
    phone.sign_in(password="alice")
    page = tour.page
    page.goto(console)
    tour.sign_in(password="alice")
    names = [
        (tour.issuer, "https://id.example.com"),
        (console, "https://admin.example.com"),
        (str(CONFIGURATION), "/etc/token-service"),
    ]

    def keep(name: str) -> None:
        page.evaluate(STEADY, names)
        tour.keep(name)

    page.wait_for_selector("#registry-panel")
    keep("console-overview")
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
        keep(name)
    page.goto(console + pages["console-user"])
    page.click("[data-change=end-sessions]")
    keep("console-confirm")
    page.goto(f"{console}/explain")
    page.fill("#subject", "at_made-up")
    page.click("main button")
    page.wait_for_selector("#explained")
    keep("console-explained")
    phone.page.close()
