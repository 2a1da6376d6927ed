"""Limits the requests of a client or network per minute, counted in the store for all replicas."""

from __future__ import annotations

from ipaddress import IPv6Address, ip_address, ip_network

import msgspec

from service.clock import clock
from service.model.handle import digest
from service.protocol.errors import TooManyRequests
from service.store import verbs
from service.store.keyvalue import KeyValue

MINUTE = 60


class RateLimit(msgspec.Struct, frozen=True, kw_only=True):
    """A fixed window of one minute for each caller; without a limit (None) nothing is counted."""

    kv: KeyValue
    prefix: str
    name: str
    per_minute: int | None

    async def count(self, caller: str, amount: int = 1) -> None:
        """Count a request with its weight, or raise TooManyRequests (RFC 6585 §4)."""
        if self.per_minute is None:
            return
        window, elapsed = divmod(clock(), MINUTE)
        key = f"{self.prefix}:{{{digest(caller)}}}:rl:{self.name}:{window}"
        (count,) = await self.kv.write(verbs.count(key, 2 * MINUTE, amount))
        if count > self.per_minute:
            raise TooManyRequests(
                f"more than {self.per_minute} requests per minute", retry_after=MINUTE - elapsed
            )


def network_of(address: str) -> str:
    """Return the /64 of an IPv6 address, because one host has all of it (RFC 4291 §2.5.1), else the address."""
    try:
        parsed = ip_address(address)
    except ValueError:
        return address
    if not isinstance(parsed, IPv6Address):
        return str(parsed)
    return str(parsed.ipv4_mapped or ip_network((parsed, 64), strict=False))
