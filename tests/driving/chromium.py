"""The system's Chromium without a window, driven by playwright, which downloads none."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from playwright.async_api import Browser, async_playwright

CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or "chromium"
"""Where it is; the one that has no windows at all does the same pages in less time."""
OPTIONS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@asynccontextmanager
async def headless_chromium() -> AsyncIterator[Browser]:
    """A browser of one's own; each context in it has cookies of its own."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=OPTIONS)
        yield browser
        await browser.close()


@contextmanager
def shared_chromium(folder: Path) -> Iterator[str]:
    """A process for several tests, because starting it takes longer than most of them; the URL to reach it at."""
    command = [
        CHROMIUM,
        *("--headless", *OPTIONS, "--remote-debugging-port=0"),
        *(f"--user-data-dir={folder}", "about:blank"),
    ]
    # A group of its own, because the program may be a script that would end without Chromium.
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, start_new_session=True)
    written = folder / "DevToolsActivePort"
    while not written.exists() or len(address := written.read_text().split()) < 2:
        assert process.poll() is None, "Chromium does not start"
        time.sleep(0.05)
    yield f"ws://127.0.0.1:{address[0]}{address[1]}"
    os.killpg(process.pid, signal.SIGTERM)
    process.wait(timeout=60)


@asynccontextmanager
async def connected_to(url: str) -> AsyncIterator[Browser]:
    """The shared browser; each context in it has cookies of its own."""
    async with async_playwright() as playwright:
        browser = await playwright.chromium.connect_over_cdp(url)
        yield browser
        await browser.close()
