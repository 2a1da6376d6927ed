"""Bounds the connections of one process: their number, unfinished request heads, and answers that nobody reads.

The files of a process are shared by all callers. Where they run out, connections that wait for their clients make room
for new ones, so that nobody keeps others out by holding many.
"""

from __future__ import annotations

import asyncio
import resource
from asyncio.trsock import TransportSocket
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache
from math import inf
from operator import itemgetter
from socket import SO_RCVBUF, SO_SNDBUF, SOL_SOCKET, socket
from typing import Literal, NamedTuple, Protocol, cast

import structlog
from aiohttp import web

from service.store.rate_limit import site_of

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

BUFFER_BYTES = 65536
"""Bytes of a connection that the system is asked to hold at most, in each direction; Linux takes it twice, for its own records."""

SECONDS_BETWEEN_CHECKS = 1
SECONDS_BETWEEN_WARNINGS = 60

Socket = socket | TransportSocket | None

DropReason = Literal["too_many", "too_many_heads", "open_files", "slow_head", "unread"]

log = structlog.stdlib.get_logger(__name__)


class Connection(Protocol):
    """A protocol that serves one connection."""

    @property
    def peer(self) -> str | None:
        """The address at its other end."""
        ...

    @property
    def idle_since(self) -> float | None:
        """The time since which it waits for its client, by the loop's clock; None where the client waits for an answer."""
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


class _Origin(NamedTuple):
    """The origin of connections; those of a trusted proxy carry everybody's requests."""

    is_proxy: bool
    network: str


class Connections:
    """The open connections of one application."""

    def __init__(
        self,
        observer: ConnectionObserver,
        *,
        files_reserved: int,
        is_proxy: Callable[[str], bool] = lambda _: False,
    ) -> None:
        self._observer = observer
        self._files_reserved = files_reserved

        @lru_cache(maxsize=1000)
        def origin_of(peer: str) -> _Origin:
            return _Origin(is_proxy(peer), site_of(peer))

        self._origin_of = origin_of
        self._drains = False
        self._unsent_since: dict[Connection, float | None] = {}
        """Every open connection."""
        self._room = 0
        """How many new connections may still take the files that dropped ones are giving back."""
        self._heads: dict[Connection, float] = {}
        """When an unfinished head began, the oldest first."""
        self._dropped: Counter[str] = Counter()
        self._next_warning = -inf
        self._checking: asyncio.TimerHandle | None = None

    def add(self, connection: Connection, accepted: Socket) -> None:
        """Count a connection; where there are too many, let others make room, or else drop it."""
        self._unsent_since[connection] = None
        self._observer.count_open()
        if not self._uses_up_files(accepted):
            self._room = 0
            if len(self._unsent_since) > MAX_CONNECTIONS:
                self.make_room("too_many")
        elif self._room or self.make_room("open_files"):
            self._room -= 1
        elif connection in self._unsent_since:
            self._drop(connection, "open_files")
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

    def make_room(self, reason: DropReason) -> bool:
        """Drop a twentieth of the connections, so that the next ones need no search; return whether any could be dropped."""
        dropped = self._expendable()[: max(1, len(self._unsent_since) // 20)]
        for each in dropped:
            self._drop(each, reason)
        self._room = len(dropped)
        return bool(dropped)

    def _expendable(self) -> list[Connection]:
        """Return the connections that wait for their clients, those of the network with most connections first.

        Within a network the one that has waited for longest comes first; trusted proxies come last.
        """
        busy: Counter[_Origin] = Counter()
        waiting: defaultdict[_Origin, list[tuple[float, Connection]]] = defaultdict(list)
        for each in self._unsent_since:
            origin, since = self._origin_of(each.peer or ""), each.idle_since
            if since is None:
                busy[origin] += 1
            else:
                waiting[origin].append((since, each))
        ranked: list[tuple[tuple[bool, int, float], Connection]] = []
        for origin, idle in waiting.items():
            idle.sort(key=itemgetter(0), reverse=True)
            for held, (since, each) in enumerate(idle, start=busy[origin]):
                ranked.append(((origin.is_proxy, -held, since), each))
        ranked.sort(key=itemgetter(0))
        return [each for _, each in ranked]

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


def allow_many_files() -> None:
    """Raise the limit of open files to what the system allows this process, from the 1,024 of systemd for example."""
    _, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with suppress(
        ValueError, OSError
    ):  # a system without an end to them, or a sandbox that forbids it
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def peer_address(transport: asyncio.BaseTransport) -> str | None:
    """Return the address at the other end; None at a unix socket, and where it has gone."""
    peer = cast("tuple[str, int] | None", transport.get_extra_info("peername"))
    return peer[0] if peer else None


def bound_buffers(listening: socket) -> None:
    """Bound what the system holds of each connection that is accepted here; a few MiB otherwise, for clients that do not read."""
    for option in (SO_SNDBUF, SO_RCVBUF):
        listening.setsockopt(SOL_SOCKET, option, BUFFER_BYTES)


def send_answers_in_turn(transport: asyncio.BaseTransport) -> None:
    """Pause writing until an answer has left the process, and not only once 64 KiB wait; over TLS once these wait, not 512.

    The end of a handshake waits to be sent, too, and who stopped reading for it would never be told to go on.
    """
    high = 1 if transport.get_extra_info("ssl_object") is None else BUFFER_BYTES
    cast("asyncio.WriteTransport", transport).set_write_buffer_limits(high=high)


def survives_half_close(transport: asyncio.BaseTransport | None) -> bool:
    """Return whether answers can still be sent once the other end sends nothing more: asyncio ends TLS in both directions."""
    return transport is not None and transport.get_extra_info("ssl_object") is None


CONNECTIONS: web.AppKey[Connections] = web.AppKey("connections", Connections)
"""Where an application keeps its connections, for the server that runs it."""
