"""Decides which addresses URLs of dynamically registered clients may lead to (RFC 7591 §5, RFC 6890)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_NAT64 = IPv6Network("64:ff9b::/96")
"""IPv4 behind a translator (RFC 6052 §2.1)."""


@dataclass(frozen=True, slots=True)
class AddressPolicy:
    """Allows public addresses, and others only in the networks that the operator names."""

    allowed_networks: Sequence[Network]

    def allows(self, address: str) -> bool:
        """Whether a URL may lead to the address by https."""
        return self.exempts(address) or _is_public(_target(ip_address(address)))

    def exempts(self, address: str) -> bool:
        """Whether the operator names a network of the address, so that plain http is allowed, too."""
        target = _target(ip_address(address))
        return any(target in network for network in self.allowed_networks)


def _target(address: Address) -> Address:
    """Return the address that receives the packets: an embedded IPv4 address, if there is one."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: Address) -> bool:
    """Whether the address belongs to one host on the Internet (RFC 6890 §2.2)."""
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    special = address.is_multicast or address.is_reserved or address.is_link_local or site_local
    return address.is_global and not special
