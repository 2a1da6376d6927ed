"""Groups client addresses for limits."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network


def network_of(address: str) -> str:
    """Return the /64 of an IPv6 address, because one host has all of it (RFC 4291 §2.5.1), else the address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
