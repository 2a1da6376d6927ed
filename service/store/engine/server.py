"""Opens a connection to one server: the socket, TLS, and the first commands."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import Any

from service.store.engine.engine import ConnectionLost, ResponseError
from service.store.engine.link import Link, words_of
from service.store.verbs import Command
from service.tls import make_context, show_certificate

Address = tuple[str, int]

Connect = Callable[[Callable[[], Link]], Awaitable[Link]]
"""Opens a connection, and returns the link on it, which it makes by that function."""

KEEPALIVE = {"TCP_KEEPIDLE": 30, "TCP_KEEPINTVL": 5, "TCP_KEEPCNT": 3}
"""Seconds of silence and between probes, and probes, until the system gives a connection up; not every system has all."""

NAME: Command = ("CLIENT", "SETINFO", "LIB-NAME", "token-service")
"""Shows in CLIENT LIST whose connection it is; older servers and strict users refuse that, and it does not matter."""

_SERVES_NOBODY = ("NOAUTH", "DENIED", "ERR max number of clients")
"""How the reply to NAME begins if no other command will be answered either."""

_NO = ("0", "F", "FALSE", "N", "NO")
_VERIFY = {"none": ssl.CERT_NONE, "optional": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    """The address of a server, and what a connection to it needs."""

    address: Address | str
    """Host and port, or the path of a unix socket."""
    introduction: tuple[Command, ...] = field(default=(), repr=False)
    """AUTH and SELECT, where they are needed."""
    tls: Mapping[str, str] | None = field(default=None, repr=False)
    """The options of the URL, of which those that begin with `ssl_` count; None without TLS."""
    timeout: float
    """Seconds until a connection has to be ready."""

    def with_address(self, address: Address) -> Server:
        """Return what needs the same for a connection, at another address."""
        return replace(self, address=address)

    async def connect(self, make_link: Callable[[], Link] = Link) -> Link:
        """Return a link that is ready for commands; raise ConnectionLost with the reason."""
        try:
            async with asyncio.timeout(self.timeout):
                link = await self._open_socket(make_link)
                try:
                    await self._introduce(link)
                except BaseException:
                    link.abort(ConnectionLost("it could not begin"))
                    raise
        except TimeoutError:
            raise ConnectionLost(f"{self.name} did not answer in time") from None
        except (OSError, ValueError) as error:  # ValueError: there cannot be such a host or path
            raise ConnectionLost(f"{self.name} cannot be connected to: {error}") from error
        link.begin()
        return link

    async def ask(self, command: Command) -> Any:
        """Return the reply to one command on a connection of its own; raise ResponseError for an error reply."""
        link = await self.connect()
        try:
            (reply,) = await link.ask([command], due=monotonic() + self.timeout)
        finally:
            link.abort(ConnectionLost("nothing more was to be asked"))
        if isinstance(reply, ResponseError):
            raise reply
        return reply

    @property
    def name(self) -> str:
        return self.address if isinstance(self.address, str) else "{}:{}".format(*self.address)

    async def _open_socket(self, make_link: Callable[[], Link]) -> Link:
        loop = asyncio.get_running_loop()
        if isinstance(self.address, str):
            return (await loop.create_unix_connection(make_link, self.address))[1]
        # The authorities of the system take 40 ms to load.
        tls = None if self.tls is None else await asyncio.to_thread(_tls_context, self.tls)
        transport, link = await loop.create_connection(make_link, *self.address, ssl=tls)
        opened = transport.get_extra_info("socket")
        with suppress(OSError):  # it is lost already, as whoever asks will find
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            for option, value in KEEPALIVE.items():
                if hasattr(socket, option):
                    opened.setsockopt(socket.IPPROTO_TCP, getattr(socket, option), value)
        return link

    async def _introduce(self, link: Link) -> None:
        commands = [*self.introduction, NAME]
        replies = await link.ask(commands, due=monotonic() + self.timeout)
        for command, reply in zip(commands, replies, strict=True):
            if not isinstance(reply, ResponseError):
                continue
            if command is not NAME or str(reply).startswith(_SERVES_NOBODY):
                raise ConnectionLost(f"{self.name} refuses {command[0]!s}: {words_of(reply)}")


def _tls_context(options: Mapping[str, str]) -> ssl.SSLContext:
    """Return what the options ask for, from the files as they are now."""
    context = make_context()
    verify = _VERIFY[options.get("ssl_cert_reqs", "required")]
    named = options.get("ssl_check_hostname", "yes").upper() not in _NO
    context.check_hostname = named and verify is not ssl.CERT_NONE
    context.verify_mode = verify
    used = ""
    try:
        if "ssl_certfile" in options:
            used = " with ".join(filter(None, map(options.get, ("ssl_certfile", "ssl_keyfile"))))
            show_certificate(context, options["ssl_certfile"], options.get("ssl_keyfile"))
        if "ssl_ca_certs" in options:
            used = options["ssl_ca_certs"]
            context.load_verify_locations(used)
    except OSError as error:
        raise ConnectionLost(f"{used} of the ssl_ options cannot be used: {error}") from error
    return context
