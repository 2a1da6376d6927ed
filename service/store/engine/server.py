"""Opens connections: to one server, or to the master that sentinels name."""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from time import monotonic
from typing import Any, Protocol

import msgspec
import structlog
from msgspec.structs import replace

from service.config.plugins import describe_exception
from service.single_flight import SingleFlight
from service.store.engine.connection import Connection, words_of
from service.store.engine.engine import TROUBLE, ConnectionLost, ResponseError
from service.store.verbs import Command

log = structlog.stdlib.get_logger(__name__)

Address = tuple[str, int]

Connect = Callable[[Callable[[], Connection]], Awaitable[Connection]]
"""Returns an open connection, an instance that the given function has made."""

KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""Seconds of silence and between probes, and probes, until the system gives a connection up; not every system has all."""

NAME: Command = ("CLIENT", "SETINFO", "LIB-NAME", "token-service")
"""Shows in CLIENT LIST whose connection it is; older servers and strict users refuse that, and it does not matter."""

_SERVES_NOBODY = ("NOAUTH", "DENIED", "ERR max number of clients")
"""How the reply to NAME begins if no other command will be answered either."""

PROVIDER_SECONDS = 10.0
"""Time for a credential provider, and for the open connections, when credentials are sent again."""

RETRY = 10.0
"""Seconds until credentials that could not be sent are fetched again."""


class CredentialProvider(Protocol):
    """A `CredentialProvider` of redis-py, or anything else with this method."""

    async def get_credentials_async(self) -> Sequence[str]:
        """Return a name and a password, or a password alone."""
        ...


class Credentials:
    """Authenticates connections; credentials that expire are sent again on the connections that are open."""

    def __init__(self, provider: CredentialProvider, *, resend_after: float | None = None) -> None:
        """Take the seconds after which they are sent again; None if they never change."""
        self._provider = provider
        self._resend_after = resend_after
        self._connections: set[Connection] = set()
        self._timer: asyncio.TimerHandle | None = None
        self._sending: SingleFlight[None, None] = SingleFlight()

    async def fetch(self) -> Command:
        """Return the AUTH command; raise ConnectionLost if the provider fails."""
        try:
            return ("AUTH", *await self._provider.get_credentials_async())
        except Exception as error:  # the operator's code may raise anything
            cause = f"store.credential_provider failed: {describe_exception(error)}"
            raise ConnectionLost(cause) from error

    def watch(self, connection: Connection) -> None:
        """Send new credentials on this connection, too, as long as it is open."""
        if self._resend_after is not None:
            self._connections.add(connection)
            if self._timer is None:
                self._schedule(self._resend_after)

    def resend(self) -> None:
        """Fetch the credentials and send them on all open connections, once for all who ask at the same time."""
        self._sending.start(None, self._resend)

    async def _resend(self) -> None:
        seconds = self._resend_after
        try:
            async with asyncio.timeout(PROVIDER_SECONDS):
                await self._send(await self.fetch())
        except TROUBLE as error:
            log.warning("redis credentials were not renewed", cause=words_of(error))
            seconds = RETRY if seconds is None else min(seconds, RETRY)
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._connections and seconds is not None:
            self._schedule(seconds)

    async def _send(self, command: Command) -> None:
        """Raise the first refusal; a connection that is lost meanwhile is opened again with the new credentials."""
        self._connections = {each for each in self._connections if each.is_open}
        due = monotonic() + PROVIDER_SECONDS
        sent = [each.ask([command], due=due) for each in self._connections]
        for replies in await asyncio.gather(*sent, return_exceptions=True):
            if isinstance(replies, list) and isinstance(replies[0], ResponseError):
                raise replies[0]

    def _schedule(self, seconds: float) -> None:
        # Spread, so that many replicas do not all ask the provider at once.
        wait = seconds * random.uniform(0.8, 1)  # noqa: S311 - no secret
        self._timer = asyncio.get_running_loop().call_later(wait, self.resend)


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """The address of a server, and what a connection to it needs."""

    address: Address | str
    """Host and port, or the path of a unix socket."""
    credentials: Credentials | None = None
    database: int = 0
    make_tls_context: Callable[[], ssl.SSLContext] | None = None
    """Reads the certificates anew for each connection; None without TLS."""
    timeout: float
    """Seconds until a connection has to be ready."""

    def with_address(self, address: Address) -> Server:
        """Return what needs the same for a connection, at another address."""
        return replace(self, address=address)

    async def connect(self, make_connection: Callable[[], Connection] = Connection) -> Connection:
        """Return a connection that is ready for commands; raise ConnectionLost with the reason."""
        try:
            async with asyncio.timeout(self.timeout):
                connection = await self._open_socket(make_connection)
                try:
                    await self._introduce(connection)
                except BaseException:
                    connection.abort(ConnectionLost("it could not begin"))
                    raise
        except TimeoutError:
            raise ConnectionLost(f"{self.name} did not answer in time") from None
        except (OSError, ValueError) as error:  # ValueError: there cannot be such a host or path
            raise ConnectionLost(f"{self.name} cannot be connected to: {error}") from error
        if self.credentials is not None:
            self.credentials.watch(connection)
        connection.begin()
        return connection

    async def ask(self, command: Command) -> Any:
        """Return the reply to one command on a connection of its own; raise ResponseError for an error reply."""
        connection = await self.connect()
        try:
            (reply,) = await connection.ask([command], due=monotonic() + self.timeout)
        finally:
            connection.abort(ConnectionLost("nothing more was to be asked"))
        if isinstance(reply, ResponseError):
            raise reply
        return reply

    @property
    def name(self) -> str:
        return self.address if isinstance(self.address, str) else "{}:{}".format(*self.address)

    async def _open_socket(self, make_connection: Callable[[], Connection]) -> Connection:
        loop = asyncio.get_running_loop()
        if isinstance(self.address, str):
            return (await loop.create_unix_connection(make_connection, self.address))[1]
        # The authorities of the system take 40 ms to load.
        make = self.make_tls_context
        tls = None if make is None else await asyncio.to_thread(make)
        transport, connection = await loop.create_connection(
            make_connection, *self.address, ssl=tls
        )
        opened = transport.get_extra_info("socket")
        with suppress(OSError):  # it is lost already, as whoever asks will find
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in KEEPALIVE.items():
                if hasattr(socket, option):
                    opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        return connection

    async def _introduce(self, connection: Connection) -> None:
        commands = [NAME]
        if self.database:
            commands.insert(0, ("SELECT", self.database))
        if self.credentials is not None:
            commands.insert(0, await self.credentials.fetch())
        replies = await connection.ask(commands, due=monotonic() + self.timeout)
        for command, reply in zip(commands, replies, strict=True):
            if not isinstance(reply, ResponseError):
                continue
            if command is not NAME or str(reply).startswith(_SERVES_NOBODY):
                raise ConnectionLost(f"{self.name} refuses {command[0]!s}: {words_of(reply)}")


class Sentinels:
    """Asks the sentinels for the master before each new connection, first the one that named it last."""

    def __init__(
        self, sentinels: Iterable[Server], name: str, server_at: Callable[[Address], Server]
    ) -> None:
        """Take the name of the master, and what returns its server at an address."""
        self._sentinels = list(sentinels)
        self._name = name
        self._server_at = server_at

    async def connect(self, make_connection: Callable[[], Connection]) -> Connection:
        """Return a connection to the present master; raise ConnectionLost if no sentinel names one."""
        return await self._server_at(await self._find_master()).connect(make_connection)

    async def _find_master(self) -> Address:
        reasons: list[str] = []
        for sentinel in self._sentinels:
            try:
                fields = await sentinel.ask(("SENTINEL", "MASTER", self._name))
            except TROUBLE as error:
                reasons.append(str(error))
                continue
            master = dict(zip(fields[::2], fields[1::2], strict=True))
            flags = set(master[b"flags"].split(b","))
            if b"master" in flags and not flags & {b"s_down", b"o_down"}:
                self._sentinels.sort(key=lambda each: each is not sentinel)
                return master[b"ip"].decode(), int(master[b"port"])
            reasons.append(f"{self._name} is {master[b'flags'].decode()}")
        raise ConnectionLost(f"no sentinel names a master: {'; '.join(reasons)}")
