"""Finds the address that a request comes from behind proxies (RFC 7239), and the endpoint's own path in one that has the issuer's before it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from urllib.parse import urlsplit

import structlog

from service.config.schema.server import ForwardedHeader
from service.protocol.path_aliases import NO_ALIASES, PathAliases
from service.web.endpoint import Message

OPERATIONS = frozenset({"/health/live", "/health/ready", "/metrics"})
"""The paths for load balancers and Prometheus, which are not below the issuer."""

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network

MAX_HOPS = 20
"""Proxies between client and service."""

MAX_FORWARDED_LENGTH = 4096
"""Characters of `Forwarded` that are read, counted from its right end."""

MAX_NODE_LENGTH = 64

_text = lru_cache(maxsize=1000)(str)  # the same callers ask all day

_ELEMENT_BACKWARDS = re.compile(r'(?:[^",\\]|"[^"\\]*")*')
"""An element, read from the right. It must not contain a backslash, which addresses never need."""
_PAIR = re.compile(r'(?:[^";]|"[^"]*")+')
_NODE = re.compile(r"\[(?P<v6>[^\]]+)\](?::\d+)?|(?P<v4>[\d.]+)(?::\d+)?|(?P<bare>[0-9A-Fa-f:.]+)")

_IGNORED = "forwarded headers are ignored: server.trusted_proxies does not list the peer"
_CONTRADICTORY = "X-Forwarded-For and Forwarded name two callers: set server.forwarded_header"

log = structlog.stdlib.get_logger(__name__)


class ClientAddress:
    """Believes the headers of trusted proxies only."""

    def __init__(
        self,
        *,
        trusted: Sequence[Network],
        header: ForwardedHeader,
        gateways: Sequence[Network] | None = None,
    ) -> None:
        """Take the trusted proxies, and those among them that may ask about the requests of others; None: all of them."""
        self._trusted = trusted
        self._header = header
        self._gateways = gateways
        self._has_warned = False
        # The same proxies ask all day.
        self._trusts: Callable[[Address], bool] = lru_cache(maxsize=1000)(self._is_trusted)

    def find(self, request: Message) -> str:
        """Return the address of the nearest hop that is not a trusted proxy."""
        if not _is_forwarded(request):
            return _peer_text(request.remote)
        peer = _address(request.remote or "")
        if peer is None:
            return request.remote or ""
        if not self.is_from_proxy(request):
            return _text(peer)
        callers = {self._first_untrusted(peer, nodes) for nodes in self._nodes(request)}
        if len(callers) > 1 and not self._has_warned:
            self._warn(_CONTRADICTORY, peer)
        return _text(callers.pop() if len(callers) == 1 else peer)

    def is_from_proxy(self, request: Message) -> bool:
        """Return whether a trusted proxy has sent the request; warn once of a proxy that is not listed."""
        peer = _address(request.remote or "")
        if peer is None or self._trusts(peer):
            return peer is not None
        if not self._has_warned and _is_forwarded(request):
            self._warn(_IGNORED, peer)
        return False

    def is_proxy(self, peer: str) -> bool:
        """Return whether an address is that of a trusted proxy."""
        address = _address(peer)
        return address is not None and self._trusts(address)

    def is_from_gateway(self, request: Message) -> bool:
        """Return whether a proxy has sent the request that may ask about the requests of others."""
        is_gateway = self._gateways is None or _is_in(
            _address(request.remote or ""), self._gateways
        )
        return self.is_from_proxy(request) and is_gateway

    def _nodes(self, request: Message) -> Iterator[Iterable[str]]:
        """Yield for each header that counts the addresses in it, the nearest hop first.

        A proxy that sets one of the two headers passes on the other as the client sent it, so neither has precedence.
        """
        headers = request.headers
        if self._header != "Forwarded" and "X-Forwarded-For" in headers:
            hops = ",".join(headers.getall("X-Forwarded-For")).rsplit(",", MAX_HOPS)
            yield hops[-MAX_HOPS:][::-1]
        if self._header != "X-Forwarded-For" and "Forwarded" in headers:
            yield _forwarded_nodes(",".join(headers.getall("Forwarded")))

    def _first_untrusted(self, hop: Address, nodes: Iterable[str]) -> Address:
        for node in nodes:
            before = _address(node.strip()) if len(node) <= MAX_NODE_LENGTH else None
            if before is None:
                break  # the proxy does not know the address, or hides it
            hop = before
            if not self._trusts(hop):
                break
        return hop

    def _is_trusted(self, address: Address) -> bool:
        return _is_in(address, self._trusted)

    def _warn(self, message: str, peer: Address) -> None:
        self._has_warned = True
        log.warning(message, peer=str(peer))


def _is_in(address: Address | None, networks: Sequence[Network]) -> bool:
    return address is not None and any(address in network for network in networks)


def _is_forwarded(request: Message) -> bool:
    return "X-Forwarded-For" in request.headers or "Forwarded" in request.headers


def _forwarded_nodes(header: str) -> Iterator[str]:
    """Yield the node of each element, the last element first, until the syntax is wrong (RFC 7239 §4).

    The nearest proxy has written the right end, and the caller perhaps the left. Quotes are understood, because the
    proxy may quote the caller's Host in its element.
    """
    backwards = header[::-1][:MAX_FORWARDED_LENGTH]
    begin = 0
    for _ in range(MAX_HOPS):
        found = _ELEMENT_BACKWARDS.match(backwards, begin)
        end = found.end() if found else begin
        if backwards[end : end + 1] not in {"", ","}:
            return
        yield _forwarded_for(backwards[begin:end][::-1])
        if end == len(backwards):
            return
        begin = end + 1


def _forwarded_for(element: str) -> str:
    """Return the value of `for` in one element, or "" (RFC 7239 §5.2)."""
    for pair in _PAIR.finditer(element):
        name, _, value = pair[0].partition("=")
        if name.strip().lower() == "for":
            return value.strip().strip('"')
    return ""


@lru_cache(maxsize=1000)
def _peer_text(remote: str | None) -> str:
    """Return the address of a peer, an IPv4 one in IPv6 as IPv4; what is not an address stays as it is."""
    peer = _address(remote or "")
    return (remote or "") if peer is None else str(peer)


@lru_cache(maxsize=1000)  # the same balancers ask all day
def _address(node: str) -> Address | None:
    """Return the address in a node, without port and brackets; None if it is not an address (RFC 7239 §6)."""
    parts = _NODE.fullmatch(node)
    if parts is None:
        return None
    try:
        address = ip_address(parts["v6"] or parts["v4"] or parts["bare"])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


class Mount:
    """The paths below which the public finds this service; none where its URLs have no path."""

    def __init__(
        self, urls: Iterable[str], own: Iterable[str], aliases: PathAliases = NO_ALIASES
    ) -> None:
        """Take the URLs of this service, and the paths of its endpoints."""
        self._prefixes = sorted({path for url in urls if (path := urlsplit(url).path.rstrip("/"))})
        known = (*own, *aliases.listed)
        self._own = {_first_segment(path) for path in known if path not in OPERATIONS}
        self._aliases = aliases if aliases.listed else None

    def find_own_path(self, path: str) -> str:
        """Return the path without the issuer's, if an endpoint may have what remains; that of the endpoint for an alias."""
        for prefix in self._prefixes:
            rest = path.removeprefix(prefix) or "/"
            if rest != path and rest.startswith("/") and _first_segment(rest) in self._own:
                path = rest
                break
        return path if self._aliases is None else self._aliases.find_own_path(path)


def _first_segment(path: str) -> str:
    return path.split("/", 2)[1]
