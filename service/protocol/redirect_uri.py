"""Redirect URIs match as exact strings, but for a native app's loopback port (RFC 9700 §2.1, RFC 8252 §7.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from urllib.parse import urlencode, urlsplit

_LOOPBACK = re.compile(r"(http://(?:127\.0\.0\.1|\[::1\]))(?::([0-9]{1,5}))?(/[^#]*|\?[^#]*)?")
_MAX_PORT = 65535
_DEFAULT_PORTS = {"http": 80, "https": 443}


def with_query(uri: str, parameters: Mapping[str, str]) -> str:
    """The URI with parameters added; a query that it has already is kept (RFC 6749 §3.1, §3.1.2)."""
    return uri + ("&" if "?" in uri else "?") + urlencode(parameters)


def is_registered(
    redirect_uri: str, registered: Iterable[str], *, loopback_port_may_vary: bool
) -> bool:
    """Whether a redirect URI is one of the client's (RFC 6749 §3.1.2.3)."""
    registered = tuple(registered)
    if redirect_uri in registered:
        return True
    if not loopback_port_may_vary:
        return False
    portless = _without_loopback_port(redirect_uri)
    return portless is not None and any(
        portless == _without_loopback_port(uri) for uri in registered
    )


def _without_loopback_port(uri: str) -> tuple[str, str] | None:
    """The URI in two parts around its port, or None where it is no loopback IP redirect."""
    match = _LOOPBACK.fullmatch(uri)
    if match is None or int(match[2] or 0) > _MAX_PORT:
        return None
    return match[1], match[3] or ""


def origin_of(uri: str) -> str | None:
    """The origin of a web page's URI, as a browser sends it (RFC 6454 §6.2)."""
    url = urlsplit(uri)
    if url.scheme not in _DEFAULT_PORTS or url.hostname is None:
        return None
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    port = "" if url.port in (None, _DEFAULT_PORTS[url.scheme]) else f":{url.port}"
    return f"{url.scheme}://{host}{port}"
