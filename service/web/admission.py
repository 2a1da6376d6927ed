"""Refuses requests for how they are sent, before the router sees them (RFC 9110 §15.6, RFC 9112).

All of it takes linear time; the router's time grows with the square of the path's length.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import chain

from aiohttp import HttpVersion10, HttpVersion11, web
from aiohttp.http import RawRequestMessage

from service.web.proxy import Mount

MAX_HEAD_BYTES = 65536
MAX_PATH_LENGTH = 2048
_SEPARATORS = 4
"""The colon, the space and the line break of a header."""

names_host = re.compile(
    r"(?:\[[0-9A-Fa-f:.v]+\]|[\w.~!$&'()*+,;=%-]*)(?::[0-9]*)?", re.ASCII
).fullmatch
"""Finds whether the value of `Host` is one (RFC 9110 §7.2, RFC 3986 §3.2.2)."""

_VERSION_IS_UNKNOWN = web.RequestKey("version_is_unknown", bool)

MakeRequest = Callable[..., web.BaseRequest]
"""Makes a request of a `RawRequestMessage`, its first argument."""


def readable(make: MakeRequest, mount: Mount) -> MakeRequest:
    """Wrap `make` so that a request of any version, for any target, gets an answer in HTTP/1.1."""

    def make_readable(message: RawRequestMessage, *parts: object) -> web.BaseRequest:
        is_unknown = message.version not in {HttpVersion10, HttpVersion11}
        if is_unknown:
            message = message._replace(version=HttpVersion11)  # the version of the answer, too
        if message.url.absolute:  # aiohttp cannot decode every host, and no host is needed
            message = message._replace(url=message.url.relative())
        own_path = mount.find_own_path(message.url.raw_path)
        if own_path != message.url.raw_path:
            url = message.url.with_path(own_path, encoded=True, keep_query=True)
            message = message._replace(url=url)
        request = make(message, *parts)
        if is_unknown:
            request[_VERSION_IS_UNKNOWN] = True
        return request

    return make_readable


def reason_to_refuse(request: web.Request, *, is_routed: bool) -> web.HTTPException | None:
    """Return the error for a request that must not reach an endpoint, or None; only the router needs short paths."""
    if request.get(_VERSION_IS_UNKNOWN):
        return web.HTTPVersionNotSupported()
    raw_headers = request.raw_headers  # aiohttp limits single fields only
    size = sum(map(len, chain.from_iterable(raw_headers))) + _SEPARATORS * len(raw_headers)
    if size + len(request.raw_path) > MAX_HEAD_BYTES:
        return web.HTTPRequestHeaderFieldsTooLarge()  # RFC 6585 §5
    if is_routed and len(request.rel_url.raw_path) > MAX_PATH_LENGTH:
        return web.HTTPNotFound()
    return _reason_in_headers(request)


def _reason_in_headers(request: web.Request) -> web.HTTPException | None:
    headers, is_http_1_0 = request.headers, request.version == HttpVersion10
    if not names_host(headers.get("Host", "")):
        return web.HTTPBadRequest()  # RFC 9112 §3.2
    if "Transfer-Encoding" in headers:
        codings = ",".join(headers.getall("Transfer-Encoding"))
        if is_http_1_0:
            return web.HTTPBadRequest()  # RFC 9112 §6.1
        if codings.strip().lower() != "chunked":
            return web.HTTPNotImplemented()  # RFC 9112 §6.1
    if not is_http_1_0 and headers.get("Expect", "100-continue").lower() != "100-continue":
        return web.HTTPExpectationFailed()  # RFC 9110 §10.1.1
    return None
