"""What tells a client whether its person's login has changed, without asking the service (OIDC Session Management §3)."""

from __future__ import annotations

from hashlib import sha256

OPAQUE_ORIGIN = "null"
"""How the origin of what is no web page is written (RFC 6454 §6.1)."""

SIGNED_OUT = ""
"""The state of a browser in which nobody is signed in."""


def session_state(*, client_id: str, origin: str, browser_state: str, salt: str) -> str:
    """The value of `session_state`; the script in `check_session_iframe` makes the same (OIDC Session Management §3.2)."""
    made_of = f"{client_id} {origin} {browser_state} {salt}"
    return f"{sha256(made_of.encode()).hexdigest()}.{salt}"


def browser_state_of(sid: str) -> str:
    """What a browser in which this session lives may show to scripts; nobody is known by it (OIDC Session Management §3.2)."""
    return sha256(f"browser state of {sid}".encode()).hexdigest()
