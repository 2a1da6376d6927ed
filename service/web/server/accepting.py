"""Accepts connections, over TLS where no proxy does it, until the last that wait when a process stops listening."""

from __future__ import annotations

import asyncio
import ssl
import sys
from array import array
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from socket import SOL_SOCKET, socket
from struct import pack

import structlog

from service.config.schema.server import Tls
from service.model.admin import AdminTls
from service.tls import make_context, show_certificate
from service.web.server.connections import HEAD_SECONDS, SECONDS_BETWEEN_WARNINGS, Connections

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

SECONDS_AFTER_ERROR = 0.1
"""How long nothing is accepted after the system refused to, because of too many open files for example."""

CIPHERS_OF_TLS_1_2 = "ECDHE+AESGCM"
"""Those of RFC 9325 §4.2, and no others (FAPI 2.0 Security Profile §5.2.2); TLS 1.3 has good ones only."""

log = structlog.stdlib.get_logger(__name__)


class ServerTls:
    """A certificate that can be replaced; open connections keep the old one."""

    def __init__(self, settings: Tls | AdminTls, *, asks_for_certificates: bool = False) -> None:
        """Read the files; raise OSError (ssl.SSLError too) if they do not work together."""
        self.settings = settings
        self.asks_for_certificates = asks_for_certificates
        self.context = self._read()

    def read_again(self) -> Callable[[], None]:
        """Read all files as they are now, and return what lets them count; raise OSError (ssl.SSLError too) if they do not work together.

        Then an authority that is gone from `client_ca` is not trusted any more.
        """
        return partial(setattr, self, "context", self._read())

    def _read(self) -> ssl.SSLContext:
        context = make_context(ssl.Purpose.CLIENT_AUTH)
        context.set_ciphers(CIPHERS_OF_TLS_1_2)
        show_certificate(context, self.settings.certificate, self.settings.private_key)
        client_ca = self.settings.client_ca if isinstance(self.settings, Tls) else None
        if self.asks_for_certificates and client_ca is not None:
            # Which client needs a certificate says its registration (RFC 8705 §2).
            context.verify_mode = ssl.CERT_OPTIONAL
            context.load_verify_locations(client_ca)
            # A resumed session would not show the whole chain, and not be verified by newer authorities.
            context.options |= ssl.OP_NO_TICKET
            context.num_tickets = 0
        return context


class TlsAcceptor:
    """Accepts the connections of one listening socket."""

    def __init__(
        self,
        listening: socket,
        tls: ServerTls,
        serve: Callable[[], asyncio.Protocol],
        connections: Connections,
    ) -> None:
        """Take what makes the protocol that serves a connection after its handshake."""
        self._listening = listening
        self._tls = tls
        self._serve = serve
        self._connections = connections
        self._loop = asyncio.get_running_loop()
        self._accepting = self._loop.create_task(self._accept())

    async def stop(self) -> None:
        """Accept nothing more; handshakes go on."""
        self._accepting.cancel()
        await asyncio.wait([self._accepting])
        self._listening.close()

    async def _accept(self) -> None:
        self._listening.setblocking(False)
        next_warning = self._loop.time()
        while True:
            try:
                accepted, _ = await self._loop.sock_accept(self._listening)
            except ConnectionError:
                continue  # the client has gone
            except OSError as error:
                self._connections.make_room("open_files")
                if self._loop.time() >= next_warning:
                    log.warning("cannot accept connections", cause=str(error))
                    next_warning = self._loop.time() + SECONDS_BETWEEN_WARNINGS
                await asyncio.sleep(SECONDS_AFTER_ERROR)
                continue
            accepted.setblocking(False)
            establishing = self._loop.create_task(self._establish(accepted))
            Handshake(accepted, establishing, self._connections)

    async def _establish(self, accepted: socket) -> None:
        try:
            await self._loop.connect_accepted_socket(
                self._serve, accepted, ssl=self._tls.context, ssl_handshake_timeout=HEAD_SECONDS
            )
        except OSError:  # of the client or of the network; ssl.SSLError is one, too
            accepted.close()
        except asyncio.CancelledError:
            accepted.close()
            raise


class Handshake:
    """A connection whose TLS is not established yet, bounded like an unfinished request head."""

    unsent_bytes = 0

    def __init__(
        self, accepted: socket, establishing: asyncio.Task[None], connections: Connections
    ) -> None:
        """Count the connection until its task ends."""
        self.idle_since = asyncio.get_running_loop().time()
        self.peer = _peer_of(accepted)
        self._establishing = establishing
        connections.add(self, accepted)
        connections.begin_head(self)
        establishing.add_done_callback(lambda _: connections.remove(self))

    def abort(self) -> None:
        self._establishing.cancel()


def _peer_of(accepted: socket) -> str | None:
    with suppress(OSError):  # it has gone
        address: str = accepted.getpeername()[0]
        return address
    return None


class AcceptQueue:
    """Serves the connections that nobody has accepted yet when a process stops listening.

    A socket that is closed resets every connection in its accept queue, and their clients may have sent requests. So
    a filter first drops packets that open a connection (a client's system repeats them after a second, and then
    finds another process or is refused); connections that are complete are served.
    """

    def __init__(self, listening: socket, tls: ServerTls | None) -> None:
        """Hold the queue open, also after the socket itself is closed."""
        self._listening = listening.dup()
        self._listening.setblocking(False)
        self._tls = tls
        # A worker that has ended may have left the filter at a socket of its supervisor.
        _set_option(self._listening, _SO_DETACH_FILTER, pack("i", 0))

    async def serve_rest(self, connection: Callable[[], asyncio.Protocol]) -> None:
        """Serve the connections that wait, and close the queue."""
        steps = array("B", b"".join(pack("HBBI", *step) for step in _DROP_SYN))
        program = pack("HL", len(_DROP_SYN), steps.buffer_info()[0])
        _set_option(self._listening, _SO_ATTACH_FILTER, program)
        await asyncio.sleep(ROUND_TRIP)
        with self._listening:
            waiting = list(self._accept())
        loop = asyncio.get_running_loop()
        context = self._tls.context if self._tls else None
        taken = [loop.connect_accepted_socket(connection, each, ssl=context) for each in waiting]
        await asyncio.gather(*taken, return_exceptions=True)  # a TLS handshake that fails

    def close(self) -> None:
        """Give the queue up."""
        self._listening.close()

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


def _set_option(listening: socket, option: int, value: bytes) -> None:
    if sys.platform == "linux":
        with suppress(OSError):  # nothing is attached, or a sandbox forbids it
            listening.setsockopt(SOL_SOCKET, option, value)
