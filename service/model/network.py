"""Whom does an address stand for, where somebody is counted by it?"""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address


def network(address: str) -> str:
    """Whom an address stands for: an IPv6 host has a whole /64 to itself (RFC 4291 §2.5.1)."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    if parsed.ipv4_mapped is not None:
        return str(parsed.ipv4_mapped)
    return f"{IPv6Address(int(parsed) >> 64 << 64)}/64"
