"""Connects to a directory, by TLS where the settings say so, and lets libldap speak over that connection.

libldap's own TLS has no time-out: while a directory that has accepted a connection says nothing, it asks again and again
without a pause. So connecting and TLS are asyncio's, as for all other outgoing connections, and libldap gets one end of a pair
of sockets. When a stream is closed, libldap's call on it ends at once.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

MOST = 1 << 20
"""Bytes that a directory may send for one request."""

PORTS = {"ldap": 389, "ldaps": 636}
_PIECE = 1 << 16

_START_TLS = bytes.fromhex("301d02010177188016") + b"1.3.6.1.4.1.1466.20037"
"""The extended request (RFC 4511 §4.14.1), as message 1."""

Addresses = Sequence[tuple[Any, ...]]
Resolve = Callable[[str, int], Awaitable[Addresses]]
"""Returns what `getaddrinfo` does."""

Stream = tuple[asyncio.StreamReader, asyncio.StreamWriter]


class DirectoryStream:
    """A connection to a directory, and the socket by which libldap uses it."""

    def __init__(self, far: Stream, near: Stream, local: socket.socket) -> None:
        self.received = 0
        """Bytes since the last request."""
        self.local = local
        self._relaying = asyncio.create_task(self._relay(far, near))

    @property
    def is_open(self) -> bool:
        return not self._relaying.done()

    def close(self) -> None:
        """Close both ends soon."""
        self._relaying.cancel()

    async def wait_closed(self) -> None:
        await asyncio.wait([self._relaying])

    async def _relay(self, far: Stream, near: Stream) -> None:
        copying = [
            asyncio.create_task(self._copy(far[0], near[1], limited=True)),
            asyncio.create_task(self._copy(near[0], far[1], limited=False)),
        ]
        try:
            await asyncio.wait(copying, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in copying:
                task.cancel()
            for _, writer in (far, near):
                writer.transport.abort()
            for _, writer in (far, near):
                with suppress(OSError):
                    await writer.wait_closed()

    async def _copy(
        self, source: asyncio.StreamReader, target: asyncio.StreamWriter, *, limited: bool
    ) -> None:
        """Copy until the source ends, or has sent more than it may."""
        try:
            while piece := await source.read(_PIECE):
                if limited:
                    self.received += len(piece)
                    if self.received > MOST:
                        return
                target.write(piece)
                await target.drain()
        except OSError:
            return


async def open_stream(
    url: str, *, starttls: bool, tls: ssl.SSLContext, resolve: Resolve
) -> DirectoryStream:
    """Return a new stream; OSError, of which ssl.SSLError is one, if there can be none."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    sock = await _connect(await resolve(host, parts.port or PORTS[parts.scheme]))
    if parts.scheme == "ldap" and starttls:
        try:
            await _start_tls(sock)
        except BaseException:
            sock.close()
            raise
    encrypted = parts.scheme == "ldaps" or starttls
    options: dict[str, Any] = {"ssl": tls, "server_hostname": host} if encrypted else {}
    far = await asyncio.open_connection(sock=sock, **options)  # which closes it if that fails
    local, ours = socket.socketpair()
    try:
        near = await asyncio.open_connection(sock=ours)
    except BaseException:
        local.close()
        far[1].transport.abort()
        raise
    return DirectoryStream(far, near, local)


async def _connect(addresses: Addresses) -> socket.socket:
    """Return a connection to the first address that accepts one."""
    failure = OSError("the host has no address")
    for family, kind, protocol, _, address in addresses:
        sock = socket.socket(family, kind, protocol)
        sock.setblocking(False)
        try:
            await asyncio.get_running_loop().sock_connect(sock, address)
        except OSError as error:
            sock.close()
            failure = error
        except BaseException:
            sock.close()
            raise
        else:
            return sock
    raise failure


async def _start_tls(sock: socket.socket) -> None:
    """Ask for TLS; OSError unless the directory agrees, and has said nothing else (RFC 4511 §4.14)."""
    loop = asyncio.get_running_loop()
    await loop.sock_sendall(sock, _START_TLS)
    answer = b""
    while (size := _size(answer)) is None or len(answer) < size:
        piece = await loop.sock_recv(sock, 256)
        if not piece:
            raise ConnectionResetError("the directory has closed the connection")
        answer += piece
    if len(answer) > size:
        raise ConnectionAbortedError("the directory has sent more than its answer before TLS")
    if not _is_success(answer):
        raise ConnectionRefusedError("the directory refuses StartTLS")


def _size(message: bytes) -> int | None:
    """Return the size of the message that begins so, or None if that is not to be seen yet (X.690 §8.1.3)."""
    if len(message) < 2:  # noqa: PLR2004 - type and length
        return None
    short = message[1]
    if short < 0x80:  # noqa: PLR2004 - the short form
        return 2 + short
    octets = short & 0x7F
    if octets > 4:  # noqa: PLR2004 - 4 GiB
        raise ConnectionAbortedError("the directory does not speak LDAP")
    if len(message) < 2 + octets:
        return None
    return 2 + octets + int.from_bytes(message[2 : 2 + octets], "big")


def _is_success(message: bytes) -> bool:
    """Return whether an extended response (type 0x78) begins with the result 0 (RFC 4511 §4.1.9)."""
    kind, content, _ = _element(message)
    if kind != 0x30:  # noqa: PLR2004 - SEQUENCE
        return False
    _, number, rest = _element(content)
    kind, response, _ = _element(rest)
    result, code, _ = _element(response)
    return (number, kind, result, code) == (b"\x01", 0x78, 0x0A, b"\x00")


def _element(message: bytes) -> tuple[int, bytes, bytes]:
    """Return the type and content of the first element, and what follows it; 0 and empty without an element."""
    size = _size(message)
    if size is None:
        return 0, b"", b""
    header = 2 if message[1] < 0x80 else 2 + (message[1] & 0x7F)  # noqa: PLR2004 - as in _size
    return message[0], message[header:size], message[size:]
