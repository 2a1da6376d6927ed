"""Looks names up for URLs of clients that registered themselves, in threads that nobody else needs (RFC 7591 §5)."""

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
"""Look-ups under way; a name server that does not answer holds its thread for half a minute."""

PER_DOMAIN = 2
"""Of these for names that end alike, so that one slow name server does not take them all."""

_FLAGS = socket.AI_NUMERICHOST | socket.AI_NUMERICSERV

_Answers = list[tuple[Any, ...]]


class GuardedNames(AbstractResolver):
    """Refuses a look-up at once where too many are under way, also those that nobody waits for any more."""

    def __init__(self) -> None:
        """Begin with none."""
        self._under_way = Counter[str]()
        self._lock = threading.Lock()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_INET
    ) -> list[ResolveResult]:
        """The addresses of a host; OSError where there are none, or too much is under way."""
        domain = ".".join(host.rstrip(".").lower().split(".")[-2:])
        if self._under_way.total() >= AT_ONCE or self._under_way[domain] >= PER_DOMAIN:
            raise OSError("too many names are being looked up")
        answer = Future[_Answers]()
        answer.set_running_or_notify_cancel()  # it cannot be cancelled, only abandoned
        ask = partial(socket.getaddrinfo, host, port, family, socket.SOCK_STREAM)
        # A daemon, so that a process which stops does not wait for a name server.
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
        """Nothing is held."""

    def _look_up(self, ask: partial[_Answers], domain: str, answer: Future[_Answers]) -> None:
        try:
            answer.set_result(ask())
        except Exception as error:  # noqa: BLE001 - whoever waits raises it
            answer.set_exception(error)
        finally:
            self._count(domain, -1)

    def _count(self, domain: str, change: int) -> None:
        with self._lock:
            self._under_way[domain] += change
            if not self._under_way[domain]:
                del self._under_way[domain]
