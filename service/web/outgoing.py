"""The guarded HTTP client: every request that the service itself makes goes through here."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path

from aiohttp import (
    ClientError,
    ClientResponse,
    ClientSession,
    ClientTimeout,
    DummyCookieJar,
    TCPConnector,
)

from service.model.outgoing import HttpAnswer, Unreachable

MAX_BODY = 1 << 20
"""Bytes of an answer; a longer one is no answer."""

_AT_ONCE = 20
"""Requests to one host; one that hangs leaves room for the others."""

_HEADERS = {
    "Accept": "application/json",
    "Accept-Encoding": "identity",  # what is small on the way cannot grow past the limit here
    "User-Agent": "token-service",
}


class Outgoing:
    """Waits `timeout` seconds, reads 1 MiB, follows no redirect, keeps no cookie.

    It asks URLs that the operator wrote down, or that a provider named there publishes; such
    URLs may go anywhere. A URL from a request or a token must not get here.
    """

    def __init__(self, *, timeout: float, ca_file: Path | None) -> None:
        """Take the limits; the connections are made when the first request is."""
        self._timeout = ClientTimeout(total=timeout)
        self._ca_file = ca_file
        self._session: ClientSession | None = None

    async def get(self, url: str, *, authorization: str | None = None) -> HttpAnswer:
        """Fetch something."""
        return await self._ask("GET", url, None, authorization)

    async def post(
        self, url: str, form: Mapping[str, str], *, authorization: str | None = None
    ) -> HttpAnswer:
        """Send a form."""
        return await self._ask("POST", url, form, authorization)

    async def close(self) -> None:
        """Give the connections back."""
        if self._session is not None:
            await self._session.close()

    async def _ask(
        self, method: str, url: str, form: Mapping[str, str] | None, authorization: str | None
    ) -> HttpAnswer:
        headers = {} if authorization is None else {"Authorization": authorization}
        try:
            async with self._connected().request(
                method, url, data=form, headers=headers, allow_redirects=False
            ) as response:
                return HttpAnswer(response.status, await _read(response))
        except TimeoutError as error:
            raise Unreachable("no answer in time") from error
        except (ClientError, OSError, ValueError) as error:
            raise Unreachable(f"no answer: {type(error).__name__}") from error

    def _connected(self) -> ClientSession:
        if self._session is None:
            trusted = ssl.create_default_context()
            if self._ca_file is not None:
                trusted.load_verify_locations(self._ca_file)
            self._session = ClientSession(
                connector=TCPConnector(
                    ssl=trusted,
                    limit_per_host=_AT_ONCE,
                    force_close=True,  # a kept connection that the other end just closed fails a POST
                ),
                cookie_jar=DummyCookieJar(),
                timeout=self._timeout,
                headers=_HEADERS,
                auto_decompress=False,
            )
        return self._session


async def _read(response: ClientResponse) -> bytes:
    if "Content-Encoding" in response.headers:
        raise Unreachable("the answer is compressed, though that was not asked for")
    body = bytearray()
    async for chunk in response.content.iter_any():
        body += chunk
        if len(body) > MAX_BODY:
            raise Unreachable(f"the answer is longer than {MAX_BODY} bytes")
    return bytes(body)
