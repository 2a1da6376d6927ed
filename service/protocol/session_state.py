"""Lets scripts of a client notice a changed login without a request (OIDC Session Management §3)."""

from __future__ import annotations

from hashlib import sha256

OPAQUE_ORIGIN = "null"
"""The origin of a URI that is not of a web page (RFC 6454 §6.1)."""

SIGNED_OUT = ""
"""The state of a browser in which no user is signed in."""


def session_state(*, client_id: str, origin: str, browser_state: str, salt: str) -> str:
    """Return `session_state`, as the script of `check_session_iframe` computes it (§3.2)."""
    text = f"{client_id} {origin} {browser_state} {salt}"
    return f"{sha256(text.encode()).hexdigest()}.{salt}"


def browser_state_of(sid: str) -> str:
    """Return the state that scripts may read while this session lives; it identifies nobody (§3.2)."""
    return sha256(f"browser state of {sid}".encode()).hexdigest()
