"""The domain of an e-mail address, in the one form in which domains are compared (RFC 5321 §2.3.5, RFC 5890 §2.3.2.1)."""

from __future__ import annotations

import re

from service.protocol.invisible import trim_name

_DOMAIN = re.compile(r"[a-z0-9_-]+(\.[a-z0-9_-]+)+")


def normalize_domain(domain: str) -> str | None:
    """Return the domain in lower case and ASCII, without a dot at its end; None if it cannot be one."""
    try:
        ascii_form = domain.removesuffix(".").encode("idna").decode().lower()
    except UnicodeError:
        return None
    return ascii_form if _DOMAIN.fullmatch(ascii_form) else None


def find_domain(address: str) -> str | None:
    """Return the domain of an e-mail address; None for a user name without one."""
    local_part, _, domain = trim_name(address).rpartition("@")
    return normalize_domain(domain) if local_part else None
