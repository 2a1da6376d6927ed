"""Bounds the connections of one process: their number, unfinished request heads, and answers that nobody reads."""

from __future__ import annotations

import asyncio
import resource
from asyncio.trsock import TransportSocket
from collections import Counter
from math import inf
from socket import socket
from typing import Literal, Protocol

import structlog
from aiohttp import web

MAX_CONNECTIONS = 10_000

MAX_UNFINISHED_HEADS = 500
"""Connections that have sent a part of a request line and headers; each part takes up to 64 KiB of memory."""

HEAD_SECONDS = 20
"""Seconds in which a request line and headers have to arrive, once they have begun."""

WRITE_SECONDS = 30
"""Seconds for which an answer may wait in this process because the client does not read it."""

WRITE_SECONDS_AT_THE_END = 2
"""The same once the process drains."""

FILES_RESERVED = 64
"""Open files that connections leave to the store, to outgoing requests and to the management port."""

SECONDS_BETWEEN_CHECKS = 1
SECONDS_BETWEEN_WARNINGS = 60

Socket = socket | TransportSocket | None

DropReason = Literal["too_many", "too_many_heads", "open_files", "slow_head", "unread"]

log = structlog.stdlib.get_logger(__name__)


class Connection(Protocol):
    """A protocol that serves one connection."""

    @property
    def idle_since(self) -> float | None:
        """The time since which it waits for a request, by the loop's clock; None during one."""
        ...

    @property
    def unsent_bytes(self) -> int:
        """Bytes of answers that the system does not take yet."""
        ...

    def abort(self) -> None: ...


class ConnectionObserver(Protocol):
    """Shows connections in metrics."""

    def count_open(self) -> None: ...
    def count_close(self) -> None: ...
    def count_drop(self, reason: DropReason, /) -> None: ...


class Connections:
    """The open connections of one application."""

    def __init__(self, observer: ConnectionObserver, *, files_reserved: int) -> None:
        self._observer = observer
        self._files_reserved = files_reserved
        self._drains = False
        self._unsent_since: dict[Connection, float | None] = {}
        """Every open connection."""
        self._heads: dict[Connection, float] = {}
        """When an unfinished head began, the oldest first."""
        self._dropped: Counter[str] = Counter()
        self._next_warning = -inf
        self._checking: asyncio.TimerHandle | None = None

    def add(self, connection: Connection, accepted: Socket) -> None:
        """Count a connection; where there are too many, drop those that are idle for longest."""
        self._unsent_since[connection] = None
        self._observer.count_open()
        if self._uses_up_files(accepted):
            self._drop(connection, "open_files")
        elif len(self._unsent_since) > MAX_CONNECTIONS:
            self._drop_idle()
        if self._checking is None:
            self._check_later()

    def remove(self, connection: Connection) -> None:
        """Forget a connection that is closed."""
        if connection in self._unsent_since:
            del self._unsent_since[connection]
            self._heads.pop(connection, None)
            self._observer.count_close()

    def begin_head(self, connection: Connection) -> None:
        """Note that a part of a request head has arrived."""
        if connection in self._unsent_since:
            self._heads.setdefault(connection, asyncio.get_running_loop().time())
        if len(self._heads) > MAX_UNFINISHED_HEADS:
            self._drop(next(iter(self._heads)), "too_many_heads")

    def finish_head(self, connection: Connection) -> None:
        self._heads.pop(connection, None)

    def begin_to_drain(self) -> None:
        """Shorten the time for clients that do not read, so that they do not delay the end."""
        self._drains = True

    def _uses_up_files(self, accepted: Socket) -> bool:
        """Return whether few files can still be opened: the system gives each file the lowest free number."""
        limit, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        if accepted is None or limit == resource.RLIM_INFINITY:
            return False
        return accepted.fileno() >= limit - self._files_reserved

    def _drop_idle(self) -> None:
        """Drop the twentieth of all connections that is idle for longest, so that the next ones need no search."""
        idle = [(each.idle_since, each) for each in self._unsent_since]
        waiting = [(since, each) for since, each in idle if since is not None]
        waiting.sort(key=lambda pair: pair[0])
        for _, each in waiting[: max(1, MAX_CONNECTIONS // 20)]:
            self._drop(each, "too_many")

    def _drop(self, connection: Connection, reason: DropReason) -> None:
        self.remove(connection)
        connection.abort()
        self._observer.count_drop(reason)
        self._dropped[reason] += 1

    def _check_later(self) -> None:
        loop = asyncio.get_running_loop()
        self._checking = loop.call_later(SECONDS_BETWEEN_CHECKS, self._check)

    def _check(self) -> None:
        """Drop what has waited for too long; one timer for all costs less than one for each."""
        now = asyncio.get_running_loop().time()
        write_seconds = WRITE_SECONDS_AT_THE_END if self._drains else WRITE_SECONDS
        for connection, since in tuple(self._unsent_since.items()):
            if not connection.unsent_bytes:
                self._unsent_since[connection] = None
            elif since is None:
                self._unsent_since[connection] = now
            elif now - since >= write_seconds:
                self._drop(connection, "unread")
        for connection, since in tuple(self._heads.items()):
            if now - since < HEAD_SECONDS:
                break
            self._drop(connection, "slow_head")
        self._warn(now)
        self._checking = None
        if self._unsent_since:
            self._check_later()

    def _warn(self, now: float) -> None:
        """Log what was dropped, at most once a minute."""
        if self._dropped and now >= self._next_warning:
            self._next_warning = now + SECONDS_BETWEEN_WARNINGS
            log.warning("connections dropped", open=len(self._unsent_since), **self._dropped)
            self._dropped.clear()


CONNECTIONS: web.AppKey[Connections] = web.AppKey("connections", Connections)
"""Where an application keeps its connections, for the server that runs it."""
