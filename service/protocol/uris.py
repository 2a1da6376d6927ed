"""Takes URIs apart for the rules, and tells whether a host is this machine, a private network, or public."""

from __future__ import annotations

from ipaddress import ip_address
from urllib.parse import SplitResult, urlsplit

_PRIVATE_DOMAINS = (".internal", ".local", ".home.arpa", ".test")
"""Names that no public DNS server answers for (RFC 6761, RFC 6762, RFC 8375)."""


def split_uri(uri: str) -> SplitResult | None:
    """Return the parts of a URI, or None if it is not one."""
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return None
    return None if port == 0 else parts


def is_loopback(host: str) -> bool:
    """Return whether the host of a URL can only be this machine (RFC 6761 §6.3)."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_on_loopback(uri: str) -> bool:
    """Return whether an answer there goes to an application on the user's own machine (RFC 8252 §7.3)."""
    parts = split_uri(uri)
    return parts is not None and parts.scheme == "http" and is_loopback(parts.hostname or "")


def is_unencrypted(uri: str) -> bool:
    """Return whether a request for the URL would cross a network without TLS."""
    parts = split_uri(uri)
    return parts is not None and parts.scheme == "http" and not is_loopback(parts.hostname or "")


def is_public(host: str) -> bool:
    """Return whether the host of a URL may be reached over the public network."""
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host.rstrip(".") and not host.rstrip(".").endswith(_PRIVATE_DOMAINS)
