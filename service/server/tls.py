"""The service's own TLS, where no proxy does it; a handshake is bounded like an unfinished request head."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from dataclasses import dataclass, field
from socket import socket

import structlog

from service.config.schema.server import Tls
from service.server.connections import HEAD_SECONDS, SECONDS_BETWEEN_WARNINGS, Connections

SECONDS_AFTER_ERROR = 0.1
"""How long nothing is accepted after the system refused to, because of too many open files for example."""

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ServerTls:
    """A certificate that can be replaced; open connections keep the old one."""

    settings: Tls
    context: ssl.SSLContext = field(init=False)

    def __post_init__(self) -> None:
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        object.__setattr__(self, "context", context)
        if self.settings.client_ca is not None:
            # The client's authentication method requires a certificate (RFC 8705 §2).
            context.verify_mode = ssl.CERT_OPTIONAL
        self.reload()

    def check(self) -> None:
        """Raise OSError (ssl.SSLError too) if the files, as they are now, do not work together."""
        ServerTls(self.settings)

    def reload(self) -> None:
        """Read all files again, after a check; a `client_ca` is trusted in addition to earlier ones."""
        if self.settings.client_ca is not None:
            self.context.load_verify_locations(self.settings.client_ca)
        self.context.load_cert_chain(self.settings.certificate, self.settings.private_key)


class TlsAcceptor:
    """Accepts the connections of one listening socket."""

    def __init__(
        self,
        listening: socket,
        context: ssl.SSLContext,
        serve: Callable[[], asyncio.Protocol],
        connections: Connections,
    ) -> None:
        """Take what makes the protocol that serves a connection after its handshake."""
        self._listening = listening
        self._context = context
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
                self._serve, accepted, ssl=self._context, ssl_handshake_timeout=HEAD_SECONDS
            )
        except OSError:  # of the client or of the network; ssl.SSLError is one, too
            accepted.close()
        except asyncio.CancelledError:
            accepted.close()
            raise


class Handshake:
    """A connection whose TLS is not established yet."""

    unsent_bytes = 0

    def __init__(
        self, accepted: socket, establishing: asyncio.Task[None], connections: Connections
    ) -> None:
        """Count the connection until its task ends."""
        self.idle_since = asyncio.get_running_loop().time()
        self._establishing = establishing
        connections.add(self, accepted)
        connections.begin_head(self)
        establishing.add_done_callback(lambda _: connections.remove(self))

    def abort(self) -> None:
        self._establishing.cancel()
