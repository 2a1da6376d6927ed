"""Reads requests that arrive whole with llhttp, the parser of aiohttp and Node.js."""

from __future__ import annotations

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from msgspec.structs import replace
from multidict import CIMultiDict, CIMultiDictProxy

from service.web.admission import names_host
from service.web.endpoint import DirectRoutes, WholeRequest
from service.web.proxy import Mount

LARGEST = 16384
"""Bytes of a request; larger ones are rare, and left to aiohttp."""

_PERSISTENT = "keep-alive"
"""The default for a connection, too (RFC 9112 §9.3)."""

_UNUSUAL = frozenset({"transfer-encoding", "expect", "upgrade"})

_END_OF_HEAD = b"\r\n\r\n"


class WholeRequestReader:
    """Reads the requests of one connection, one after the other."""

    __slots__ = (
        *("_begun", "_body", "_complete", "_head", "_headers", "_largest", "_last", "_mount"),
        *("_served", "_url", "peer_certificates", "remote"),
    )

    def __init__(self, largest: int, served: DirectRoutes, mount: Mount) -> None:
        self._largest = largest
        self._served = served
        self._mount = mount
        self._head = b""
        self._last: WholeRequest | None = None
        self.remote: str | None = None
        self.peer_certificates: tuple[bytes, ...] = ()

    def read(self, data: bytes) -> WholeRequest | None:
        """Return the request if these bytes are exactly one, with nothing that only aiohttp understands.

        A client that asks all day sends the same head with every body of one length, and those
        bytes have been read already: that alone made introspection cheaper by a sixth.
        """
        last = self._last
        if last is not None and data.startswith(self._head):
            body = data[len(self._head) :]
            if len(body) == len(last.body):
                return replace(last, body=body)
        return self._parse(data)

    def _parse(self, data: bytes) -> WholeRequest | None:
        self._expect_request()
        parser = HttpRequestParser(self)
        try:
            parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            return None
        if self._begun != 1 or not self._complete or len(data) > self._largest:
            return None
        method = parser.get_method().decode()
        if method == "HEAD":  # its answers have no body
            return None
        if parser.get_http_version() != "1.1" or not _is_ordinary(self._headers):
            return None
        if b"#" in self._url:  # a fragment is not sent (RFC 9112 §3.2)
            return None
        target, _, query = self._url.decode("utf-8", "surrogateescape").partition("?")
        path = self._mount.find_own_path(target)
        request = WholeRequest(
            method=method,
            path=path,
            query=query,
            headers=CIMultiDictProxy(self._headers),
            body=self._body,
            remote=self.remote,
            peer_certificates=self.peer_certificates,
            route=self._served.find(method, path),
        )
        # The head is remembered unless llhttp skipped something: line breaks before or after the request.
        head = data[: data.find(_END_OF_HEAD) + len(_END_OF_HEAD)]
        self._head, self._last = head, request if head + request.body == data else None
        return request

    def _expect_request(self) -> None:
        self._headers = CIMultiDict[str]()
        self._url, self._body = b"", b""
        self._begun, self._complete = 0, False

    def on_message_begin(self) -> None:
        self._begun += 1

    def on_url(self, url: bytes) -> None:
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """Decode a field as aiohttp does."""
        self._headers.add(name.decode(), value.decode("utf-8", "surrogateescape"))

    def on_body(self, body: bytes) -> None:
        self._body += body

    def on_message_complete(self) -> None:
        self._complete = True


def _is_ordinary(headers: CIMultiDict[str]) -> bool:
    """Return whether no field comes twice, or says of connection or body what only aiohttp understands."""
    names = {name.lower() for name in headers}
    return (
        len(names) == len(headers)
        and names_host(headers.get("Host", " ")) is not None  # RFC 9112 §3.2
        and names.isdisjoint(_UNUSUAL)
        and headers.get("Connection", _PERSISTENT).lower() == _PERSISTENT
    )
