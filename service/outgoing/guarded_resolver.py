"""Resolves names in URLs of dynamically registered clients, in threads of its own (RFC 7591 §5)."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections import Counter
from concurrent.futures import Future
from functools import partial
from typing import Any

from aiohttp.abc import AbstractResolver, ResolveResult

AT_ONCE = 8
"""Look-ups at once; a name server that does not answer blocks its thread for half a minute."""

PER_DOMAIN = 2
"""Look-ups at once for names of one domain, so that one slow name server does not use all threads."""

_FLAGS = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV

_Answers = list[tuple[Any, ...]]


class GuardedResolver(AbstractResolver):
    """Refuses a look-up if too many are running, including those that no request waits for any more."""

    def __init__(self) -> None:
        self._running = Counter[str]()
        self._lock = threading.Lock()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """Return the addresses of a host; OSError if there are none, or too many look-ups are running."""
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
        """Do nothing."""

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
            if not self._running[domain]:
                del self._running[domain]
