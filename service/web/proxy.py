"""From which address does a request come, where proxies stand before the service? (RFC 7239)"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address

from service.web.message import Message

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

_FORWARDED_FOR = re.compile(r'(?:^|;)\s*for\s*=\s*("?)(?P<node>[^";]*)\1\s*(?:;|$)', re.IGNORECASE)
_NODE = re.compile(r"\[(?P<v6>[^\]]+)\](?::\d+)?|(?P<v4>[\d.]+)(?::\d+)?|(?P<bare>[0-9A-Fa-f:.]+)")


@dataclass(frozen=True, slots=True)
class ClientAddress:
    """Finds it; only what trusted proxies claim in a header counts."""

    trusted: Sequence[Network]
    """`server.trusted_proxies`."""

    def of(self, request: Message) -> str:
        """The address of the first hop, seen from here, that is no trusted proxy."""
        if not self.trusted:
            return _written(request.remote or "")
        hop = _address(request.remote or "")
        if hop is None:
            return request.remote or ""
        for node in _hops(request) if self._trusts(hop) else ():
            before = _address(node)
            if before is None:
                break  # a proxy that does not know, or hides, whom it speaks for
            hop = before
            if not self._trusts(hop):
                break
        return str(hop)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self.trusted)


@lru_cache(maxsize=1000)
def _written(remote: str) -> str:
    """The address in its usual spelling, or what stands there where it is none."""
    return str(_address(remote) or remote)


def _hops(request: Message) -> Iterable[str]:
    """What the proxies say they were asked by, the nearest first; X-Forwarded-For where both headers are there."""
    listed = ",".join(request.headers.getall("X-Forwarded-For", ()))
    if listed:
        return reversed(listed.split(","))
    elements = ",".join(request.headers.getall("Forwarded", ())).split(",")
    return reversed([_forwarded_for(element) for element in elements])


def _forwarded_for(element: str) -> str:
    """The node behind `for` in one element (RFC 7239 §5.2)."""
    found = _FORWARDED_FOR.search(element)
    return found["node"] if found else ""


@lru_cache(maxsize=1000)  # the same balancers ask all day
def _address(node: str) -> Address | None:
    """The address in a node, without port and brackets; None for `unknown`, `_hidden` and nonsense (RFC 7239 §6)."""
    parts = _NODE.fullmatch(node.strip())
    if parts is None:
        return None
    try:
        address = ip_address(parts["v6"] or parts["v4"] or parts["bare"])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address
