"""Limits where URLs of dynamically registered clients may lead, and how many names they resolve (RFC 7591 §5)."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import Future
from functools import partial
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Any

import msgspec
from aiohttp.abc import AbstractResolver, ResolveResult

AT_ONCE = 8
"""Look-ups at once; a name server that does not answer blocks its thread for half a minute."""

PER_DOMAIN = 2
"""Look-ups at once for names of one domain, so that one slow name server does not use all threads."""

_FLAGS = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV
_NAT64 = IPv6Network("64:ff9b::/96")
"""IPv4 behind a translator (RFC 6052 §2.1)."""

_Answers = list[tuple[Any, ...]]


class AddressPolicy(msgspec.Struct, frozen=True):
    """Allows public addresses by https, and all in the networks that the operator names."""

    allowed_networks: Sequence[IPv4Network | IPv6Network]

    def allows(self, address: str, *, https: bool) -> bool:
        """Whether a URL may lead to the address."""
        target = _target(ip_address(address))
        exempt = any(target in network for network in self.allowed_networks)
        return exempt or (https and _is_public(target))


def _target(address: IPv4Address | IPv6Address) -> IPv4Address | IPv6Address:
    """Return the address that receives the packets: an embedded IPv4 address, if there is one."""
    if isinstance(address, IPv4Address):
        return address
    if address in _NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address


def _is_public(address: IPv4Address | IPv6Address) -> bool:
    """Whether the address belongs to one host on the Internet (RFC 6890 §2.2)."""
    site_local = isinstance(address, IPv6Address) and address.is_site_local
    special = address.is_multicast or address.is_reserved or address.is_link_local or site_local
    return address.is_global and not special


class GuardedResolver(AbstractResolver):
    """Refuses a look-up if too many are running, including those that no request waits for any more."""

    def __init__(self) -> None:
        self._running = Counter[str]()
        self._lock = threading.Lock()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host; OSError if it has none, or too many look-ups are running."""
        domain = ".".join(host.rstrip(".").lower().split(".")[-2:])
        if self._running.total() >= AT_ONCE or self._running[domain] >= PER_DOMAIN:
            raise OSError("too many names are being looked up")
        answer = Future[_Answers]()
        answer.set_running_or_notify_cancel()  # it cannot be cancelled, only abandoned
        ask = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
        # A daemon, so that the end of the process does not wait for a name server.
        look_up = threading.Thread(target=self._look_up, args=(ask, domain, answer), daemon=True)
        try:
            look_up.start()
        except RuntimeError as error:  # there are too many threads
            raise OSError("the system has no thread for a look-up") from error
        self._count(domain, 1)
        found = await asyncio.wrap_future(answer)
        return [
            ResolveResult(
                hostname=host,
                host=address[0],
                port=address[1],
                family=kind,
                proto=protocol,
                flags=_FLAGS,
            )
            for kind, _, protocol, _, address in found
        ]

    async def close(self) -> None:
        """Close nothing: the threads end with the process."""

    def _look_up(self, ask: partial[_Answers], domain: str, answer: Future[_Answers]) -> None:
        try:
            answer.set_result(ask())
        except Exception as error:  # noqa: BLE001 - the waiting request raises it
            answer.set_exception(error)
        finally:
            self._count(domain, -1)

    def _count(self, domain: str, change: int) -> None:
        with self._lock:
            self._running[domain] += change
            self._running = +self._running  # without those at zero
