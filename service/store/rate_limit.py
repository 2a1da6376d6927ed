"""Limits what a client or network may send, counted in the store for all replicas."""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import IPv6Address, ip_address, ip_network

import msgspec

from service.clock import clock
from service.model.handle import digest
from service.protocol.errors import TooManyRequests
from service.store import verbs
from service.store.keyvalue import KeyValue

MINUTE = 60

SITE = 4
"""How many networks' worth of requests a site may send, which has 65,536 of them (RFC 6177 §2)."""


class RateLimit(msgspec.Struct, frozen=True, kw_only=True):
    """A fixed window of one minute for each caller; without a limit (None) nothing is counted."""

    kv: KeyValue
    prefix: str
    name: str
    per_minute: int | None

    async def count(self, caller: str, amount: int = 1) -> None:
        """Count a request with its weight, or raise TooManyRequests (RFC 6585 §4)."""
        if self.per_minute is not None:
            await self._count(caller, {caller: self.per_minute}, amount)

    async def count_network(self, address: str, amount: int = 1, *, kind: str = "") -> None:
        """Count a request for the network of this address, and for its site, or raise TooManyRequests."""
        if self.per_minute is None:
            return
        networks = networks_of(address)
        limits = {kind + one: self.per_minute * share for one, share in networks.items()}
        await self._count(site_of(address), limits, amount)

    async def _count(self, slot: str, limits: Mapping[str, int], amount: int) -> None:
        """Count for all of these callers, whose counters are in one slot of a Cluster."""
        begin = f"{self.prefix}:{{{digest(slot)}}}:rl:{self.name}"
        keys = {f"{begin}:{digest(caller)}": limit for caller, limit in limits.items()}
        await count_in_window(self.kv, keys, amount, seconds=MINUTE)


async def count_in_window(
    kv: KeyValue,
    limits: Mapping[str, int],
    amount: int,
    *,
    seconds: int,
    problem: str = "too much was sent",
) -> None:
    """Add to counters of this window of time, or raise TooManyRequests: then nothing counts.

    `limits` have the keys without the window, all of one slot.
    """
    window, elapsed = divmod(clock(), seconds)
    left = seconds - elapsed
    keys = {f"{key}:{window}": limit for key, limit in limits.items()}
    (full,) = await kv.write(verbs.count_each(keys, left + MINUTE, amount))
    if full:
        raise TooManyRequests(f"{problem}: try again later", retry_after=left)


def networks_of(address: str) -> dict[str, int]:
    """Return the network of an address and the site around it, each with its share of a network's limit.

    One host has all of a /64 of IPv6 (RFC 4291 §2.5.1), and one site may have all of a /48 (RFC 6177 §2).
    """
    try:
        parsed = ip_address(address)
    except ValueError:
        return {address: 1}
    if not isinstance(parsed, IPv6Address):
        return {str(parsed): 1}
    if parsed.ipv4_mapped is not None:
        return {str(parsed.ipv4_mapped): 1}
    network, site = (ip_network((parsed, length), strict=False) for length in (64, 48))
    return {str(network): 1, str(site): SITE}


def site_of(address: str) -> str:
    """Return the /48 of an IPv6 address, else the address."""
    return next(reversed(networks_of(address)))
