"""Computes in Python what the script in the frame computes."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import pytest

from tests.driving.browser import Browser

Status = Callable[..., str]

ORIGIN = "https://web.example"


@pytest.fixture
def status(browser: Browser) -> Status:
    """Return the answer to a client's frame in this browser (OpenID Connect Session Management §3.2)."""

    def told(session_state: str, *, client_id: str = "web", origin: str = ORIGIN) -> str:
        _, _, salt = session_state.partition(".")
        state = browser.cookies.get("browser_state", "")
        current = sha256(f"{client_id} {origin} {state} {salt}".encode()).hexdigest()
        return "unchanged" if session_state == f"{current}.{salt}" else "changed"

    return told
