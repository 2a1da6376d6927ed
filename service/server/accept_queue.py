"""What becomes of connections that nobody has accepted yet when a process stops listening?"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from socket import socket
from ssl import SSLContext

from service.server.syn_filter import let_everybody_in, let_nobody_in

BACKLOG = 1024
"""Connections that may wait to be accepted."""

ROUND_TRIP = 0.01
"""Seconds in which a connection is complete that was asked for before."""


class AcceptQueue:
    """The connections that the system has made at a listening socket, and no process has taken."""

    def __init__(self, listening: socket, tls: SSLContext | None) -> None:
        """Hold the queue open, also after the socket itself is closed."""
        self._listening = listening.dup()
        self._listening.setblocking(False)
        self._tls = tls
        let_everybody_in(self._listening)

    async def serve_rest(self, connection: Callable[[], asyncio.Protocol]) -> None:
        """Serve what waits there and end it; else the system resets callers who have sent their requests already."""
        let_nobody_in(self._listening)
        await asyncio.sleep(ROUND_TRIP)
        with self._listening:
            waiting = list(self._waiting())
        loop = asyncio.get_running_loop()
        taken = [loop.connect_accepted_socket(connection, each, ssl=self._tls) for each in waiting]
        await asyncio.gather(*taken, return_exceptions=True)  # a TLS handshake that fails

    def _waiting(self) -> Iterator[socket]:
        while True:
            try:
                connection, _ = self._listening.accept()
            except BlockingIOError:
                return
            except ConnectionError:
                continue  # this one has gone
            connection.setblocking(False)
            yield connection
