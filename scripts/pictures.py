"""Takes the pictures of README.md: `make pictures`, where Chromium is installed."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, Page, sync_playwright

REPOSITORY = Path(__file__).parents[1]
DOCS = REPOSITORY / "docs"
MARGIN = 16


def main() -> None:
    """Start the demonstration, and let Alice sign in."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = str(free.getsockname()[1])
    command = [sys.executable, "-m", "service", "serve", "--port", port]
    service = subprocess.Popen(command, cwd=REPOSITORY, stderr=subprocess.PIPE, text=True)
    try:
        next(line for line in service.stderr or () if "listening on" in line)
        with sync_playwright() as playwright:
            chromium = playwright.chromium.launch(
                executable_path=shutil.which("chromium-headless-shell") or shutil.which("chromium"),
                args=["--no-sandbox", "--disable-gpu"],
            )
            page = chromium.new_page(viewport={"width": 900, "height": 680}, locale="en")
            page.goto(f"http://localhost:{port}/")
            take_pictures(page)
    finally:
        service.terminate()
        service.wait()


def take_pictures(page: Page) -> None:
    """Sign in from the start page, and keep what it shows of the delegation."""
    page.click("a[data-person=alice]")
    page.fill("#password", "alice")
    save(page, "sign-in", page.locator("main"), page.locator("main"))
    page.click("#login")
    page.click("#consent-allow")
    save(page, "delegation", page.locator("#step-not-addressed"), page.locator("#step-delegated"))


def save(page: Page, name: str, first: Locator, last: Locator) -> None:
    """Write a picture of everything from one element to another."""
    above, below = (each.evaluate("it => it.getBoundingClientRect()") for each in (first, last))
    clip: FloatRect = {
        "x": above["x"] - MARGIN,
        "y": above["y"] - MARGIN,
        "width": above["width"] + 2 * MARGIN,
        "height": below["bottom"] - above["y"] + 2 * MARGIN,
    }
    page.screenshot(path=DOCS / f"{name}.png", clip=clip, full_page=True)


if __name__ == "__main__":
    main()
