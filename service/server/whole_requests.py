"""Is this one whole request, and nothing unusual? Reads it with llhttp, the parser of aiohttp and Node.js."""

from __future__ import annotations

from httptools import HttpParserError, HttpParserUpgrade, HttpRequestParser
from multidict import CIMultiDict, CIMultiDictProxy

from service.http.message import WholeRequest

LARGEST = 16384
"""Bytes of a request; one that is larger is no everyday one."""

_STAYS = "keep-alive"
"""What a connection does that says nothing of it, too (RFC 9112 §9.3)."""

_UNUSUAL = frozenset({"transfer-encoding", "expect", "upgrade"})

_END_OF_HEAD = b"\r\n\r\n"


class WholeRequestReader:
    """Reads the requests of one connection, one after the other."""

    __slots__ = ("_begun", "_body", "_complete", "_head", "_headers", "_largest", "_last", "_url")

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._head = b""
        self._last: WholeRequest | None = None

    def read(self, data: bytes, *, remote: str | None) -> WholeRequest | None:
        """The request, if these bytes are exactly one that holds nothing which only aiohttp understands.

        A client that asks all day sends the same head with every body of one length, and those
        bytes have been read already: that alone made introspection cheaper by a sixth.
        """
        last = self._last
        if last is None or not data.startswith(self._head):
            return self._parsed(data, remote)
        body = data[len(self._head) :]
        if len(body) != len(last.body):
            return self._parsed(data, remote)
        return WholeRequest(
            method=last.method, path=last.path, headers=last.headers, body=body, remote=remote
        )

    def _parsed(self, data: bytes, remote: str | None) -> WholeRequest | None:
        self._expect_request()
        parser = HttpRequestParser(self)
        try:
            parser.feed_data(data)
        except (HttpParserError, HttpParserUpgrade):
            return None
        if self._begun != 1 or not self._complete or len(data) > self._largest:
            return None
        if parser.get_http_version() != "1.1" or not _is_ordinary(self._headers):
            return None
        request = WholeRequest(
            method=parser.get_method().decode(),
            path=self._url.decode("latin-1").partition("?")[0],
            headers=CIMultiDictProxy(self._headers),
            body=self._body,
            remote=remote,
        )
        self._remember(data, request)
        return request

    def on_message_begin(self) -> None:
        """The first byte of a request; another one may follow in the same bytes."""
        self._begun += 1

    def on_url(self, url: bytes) -> None:
        """A part of the request's target: all of it, where the request is whole."""
        self._url += url

    def on_header(self, name: bytes, value: bytes) -> None:
        """A field, decoded as aiohttp does it."""
        self._headers.add(name.decode(), value.decode("utf-8", "surrogateescape"))

    def on_body(self, body: bytes) -> None:
        """A part of the body."""
        self._body += body

    def on_message_complete(self) -> None:
        """The end of a request."""
        self._complete = True

    def _expect_request(self) -> None:
        self._headers = CIMultiDict[str]()
        self._url, self._body = b"", b""
        self._begun, self._complete = 0, False

    def _remember(self, data: bytes, request: WholeRequest) -> None:
        """Note the head, unless llhttp skipped something (line breaks before or after the request)."""
        head = data[: data.find(_END_OF_HEAD) + len(_END_OF_HEAD)]
        if head + request.body == data:
            self._head, self._last = head, request
        else:
            self._last = None


def _is_ordinary(headers: CIMultiDict[str]) -> bool:
    """Whether nothing is said twice, or of the connection or the body what only aiohttp understands."""
    names = {name.lower() for name in headers}
    return (
        len(names) == len(headers)
        and "host" in names  # RFC 9112 §3.2
        and names.isdisjoint(_UNUSUAL)
        and headers.get("Connection", _STAYS).lower() == _STAYS
    )
