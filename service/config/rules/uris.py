"""What rules ask of a URI: can it be taken apart, and does it stay on this machine?"""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit


def split_uri(uri: str) -> SplitResult | None:
    """The parts of a URI, or None where it is none."""
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return None
    return None if port == 0 else parts


def is_loopback(host: str) -> bool:
    """Whether the host of a URL can only be this machine (RFC 6761 §6.3)."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False
