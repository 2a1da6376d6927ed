"""Serves the connections that nobody has accepted yet when a process stops listening.

A socket that is closed resets every connection in its accept queue, and their clients may have sent requests. So Linux
is told first to drop packets that open a connection (a client's system repeats them after a second, and then finds
another process or is refused); connections that are complete are served.
"""

from __future__ import annotations

import asyncio
import ctypes
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from socket import SOL_SOCKET, socket
from ssl import SSLContext
from struct import pack

BACKLOG = 1024
"""Connections that may wait to be accepted."""

ROUND_TRIP = 0.01
"""Seconds in which a connection is complete that was opened before."""

_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27
"""Linux' numbers, for which Python has no names."""

_DROP_SYN = (  # classic BPF, on the TCP header (RFC 9293 §3.1)
    (0x30, 0, 0, 13),  # load the byte with the flags
    (0x45, 0, 1, 0x02),  # is SYN among them?
    (0x06, 0, 0, 0),  # then drop the packet
    (0x06, 0, 0, 0xFFFFFFFF),  # else take all of it
)


class AcceptQueue:
    """The connections that the system has made at a listening socket, and no process has accepted."""

    def __init__(self, listening: socket, tls: SSLContext | None) -> None:
        """Hold the queue open, also after the socket itself is closed."""
        self._listening = listening.dup()
        self._listening.setblocking(False)
        self._tls = tls
        accept_new_connections(self._listening)

    async def serve_rest(self, connection: Callable[[], asyncio.Protocol]) -> None:
        """Serve the connections that wait, and close the queue."""
        drop_new_connections(self._listening)
        await asyncio.sleep(ROUND_TRIP)
        with self._listening:
            waiting = list(self._accept())
        loop = asyncio.get_running_loop()
        taken = [loop.connect_accepted_socket(connection, each, ssl=self._tls) for each in waiting]
        await asyncio.gather(*taken, return_exceptions=True)  # a TLS handshake that fails

    def _accept(self) -> Iterator[socket]:
        while True:
            try:
                connection, _ = self._listening.accept()
            except BlockingIOError:
                return
            except ConnectionError:
                continue  # this one has gone
            connection.setblocking(False)
            yield connection


def drop_new_connections(listening: socket) -> None:
    """Let the system drop packets that open a connection, where it knows such a filter."""
    steps = ctypes.create_string_buffer(b"".join(pack("HBBI", *step) for step in _DROP_SYN))
    _set_option(listening, _SO_ATTACH_FILTER, pack("HL", len(_DROP_SYN), ctypes.addressof(steps)))


def accept_new_connections(listening: socket) -> None:
    """Remove the filter, which a worker that has ended may have left at a socket of its supervisor."""
    _set_option(listening, _SO_DETACH_FILTER, pack("i", 0))


def _set_option(listening: socket, option: int, value: bytes) -> None:
    if sys.platform == "linux":
        with suppress(OSError):  # nothing is attached, or a sandbox forbids it
            listening.setsockopt(SOL_SOCKET, option, value)
