"""The HTTP client: every request that the service makes to others goes through here."""

from __future__ import annotations

import socket
import ssl
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import aiohttp
import msgspec
import structlog
from yarl import URL

from service.config.reading.files import Stamp, stamp_of
from service.model.outgoing import ClientCertificate, HttpAnswer, HttpRequest, Unreachable
from service.model.request_context import current_traceparent
from service.outgoing.guard import AddressPolicy, GuardedResolver
from service.tls import make_context, show_certificate

log = structlog.stdlib.get_logger(__name__)

MAX_BODY = 1 << 20
"""Bytes of an answer; a longer one is refused."""

PER_HOST = 20
"""Requests to one host at once; one that hangs leaves room for the others."""

IDLE = 15
"""Seconds that a kept connection waits for its next request; name servers and balancers are asked again after that."""

GUARDED_PER_HOST = 5
"""The same of dynamically registered clients: keys, a sector document, request objects, and two logouts."""

_HEADERS = {
    "Accept": "application/json, */*;q=0.5",
    "Accept-Encoding": "identity",  # what is small on the way cannot grow past the limit here
    "User-Agent": "token-service",
}


class OutgoingHttp:
    """Waits `timeout` seconds, reads `max_body` bytes, follows no redirect, keeps no cookie.

    URLs of the operator's configuration, or that a provider named there publishes, may lead anywhere
    (`policy=None`), those of dynamically registered clients where their policy allows it. A URL
    from a request or a token must not get here.

    With `kept`, requests may use up to so many connections to a host, which stay open for those that follow; what is
    sent has to be harmless if it arrives twice.
    """

    def __init__(
        self,
        *,
        timeout: float,
        ca_file: Path | None,
        policy: AddressPolicy | None,
        certificate: ClientCertificate | None = None,
        kept: int = 0,
        max_body: int = MAX_BODY,
    ) -> None:
        self._max_body = max_body
        self._timeout = aiohttp.ClientTimeout(total=timeout)
        self._ca_file = ca_file
        self._policy = policy
        self._certificate = certificate
        self._tls: ssl.SSLContext | None = None
        self._tls_stamps: list[Stamp] = []
        """Of the files that the context was made of."""
        self._resolver = None if policy is None else GuardedResolver()
        self._kept = kept
        self._sessions: dict[tuple[bool, bool], _Session] = {}
        """By whether they are for https, and whether they keep connections."""

    async def fetch(self, request: HttpRequest) -> HttpAnswer:
        # The trace goes on at the receiver (W3C Trace Context §3.2).
        given = {"Authorization": request.authorization, "traceparent": current_traceparent.get()}
        given |= request.headers
        headers = {name: value for name, value in given.items() if value is not None}
        ask = partial(self._ask, request, headers)
        try:
            if not self._kept:
                return await ask(kept=False)
            try:
                return await ask(kept=True)
            except aiohttp.ClientConnectorError:
                raise
            except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                # The other end closed a kept connection just then; only a new one says whether it is unavailable.
                return await ask(kept=False)
        except TimeoutError as error:
            raise Unreachable("no answer in time") from error
        except (aiohttp.ClientError, OSError, ValueError) as error:
            raise Unreachable(f"no answer: {type(error).__name__}") from error

    async def close(self) -> None:
        for session in self._sessions.values():
            await session.http.close()

    async def _ask(
        self, request: HttpRequest, headers: Mapping[str, str], *, kept: bool
    ) -> HttpAnswer:
        async with (
            self._session(https=URL(request.uri).scheme == "https", kept=kept) as session,
            session.request(
                request.method,
                request.uri,
                data=request.content,
                headers=headers,
                allow_redirects=False,
            ) as response,
        ):
            body = await _read(response, self._max_body) if request.reads_answer else b""
            return HttpAnswer(response.status, body, response.headers)

    @asynccontextmanager
    async def _session(self, *, https: bool, kept: bool) -> AsyncGenerator[aiohttp.ClientSession]:
        """Yield a session with the present files; one with former files is closed after its last request."""
        which, tls = (https, kept), self._load_tls() if https else None
        replaced = session = self._sessions.get(which)
        if session is None or session.tls is not tls:
            session = self._sessions[which] = _Session(self._open(tls, kept=kept), tls)
        session.requests += 1
        try:
            if replaced is not None and replaced is not session and not replaced.requests:
                await replaced.http.close()
            yield session.http
        finally:
            session.requests -= 1
            if not session.requests and self._sessions.get(which) is not session:
                await session.http.close()

    def _open(self, tls: ssl.SSLContext | None, *, kept: bool) -> aiohttp.ClientSession:
        usual = PER_HOST if self._policy is None else GUARDED_PER_HOST
        return aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                ssl=True if tls is None else tls,
                limit_per_host=self._kept or usual,
                # A kept connection that the other end just closed fails a POST.
                force_close=not kept,
                keepalive_timeout=IDLE if kept else None,
                resolver=self._resolver,
                socket_factory=partial(self._socket, https=tls is not None),
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            timeout=self._timeout,
            headers=_HEADERS,
            auto_decompress=False,
        )

    def _load_tls(self) -> ssl.SSLContext:
        """Return what is trusted and shown, by the files as they are now; by the earlier ones while these are broken."""
        own = self._certificate
        files = [self._ca_file, *((own.certificate, own.private_key) if own else ())]
        stamps = [None if file is None else stamp_of(file) for file in files]
        if self._tls is not None and stamps == self._tls_stamps:
            return self._tls
        try:
            self._tls = self._make_tls()
        except OSError as error:
            if self._tls is None:
                raise
            log.warning("a changed certificate file cannot be used", error=str(error))
        self._tls_stamps = stamps
        return self._tls

    def _make_tls(self) -> ssl.SSLContext:
        tls = make_context()
        if self._ca_file is not None:
            tls.load_verify_locations(self._ca_file)
        if self._certificate is not None:
            show_certificate(tls, self._certificate.certificate, self._certificate.private_key)
        return tls

    def _socket(
        self, addr_info: tuple[int, int, int, str, tuple[object, ...]], *, https: bool
    ) -> socket.socket:
        """Return a socket for the address that is about to be connected to, however it was found.

        The check is here and not in the resolver: no other answer of a name server comes in between,
        and an address in the URL itself is never resolved.
        """
        family, kind, protocol, _, address = addr_info
        if self._policy is not None and not self._policy.allows(str(address[0]), https=https):
            log.warning("a URL leads to an address that is not allowed", address=address[0])
            raise PermissionError("the address is not allowed")
        return socket.socket(family, kind, protocol)


class _Session(msgspec.Struct):
    http: aiohttp.ClientSession
    tls: ssl.SSLContext | None
    requests: int = 0
    """How many are under way."""


async def _read(response: aiohttp.ClientResponse, max_body: int) -> bytes:
    if "Content-Encoding" in response.headers:
        raise Unreachable("the answer is compressed without being asked for")
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > max_body:
            raise Unreachable(f"the answer is longer than {max_body} bytes")
    return bytes(body)
