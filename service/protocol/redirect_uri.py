"""Compares redirect URIs, derives origins and sectors from them, and sends responses to them (RFC 9700 §2.1, RFC 8252 §7.3)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from urllib.parse import quote_plus, urlsplit

import msgspec

from service.protocol.uris import DEFAULT_PORTS

_LOOPBACK = re.compile(
    r"(http://(?:127\.0\.0\.1|\[::1\]|localhost))(?::([0-9]{1,5}))?(/[^#]*|\?[^#]*)?"
)
_LOCALHOST_WITH_PORT = "http://localhost:"
_ORIGIN = re.compile(r"[a-z][a-z0-9+.-]*://[A-Za-z0-9._-]+(:[0-9]{1,5})?")
_UNRESERVED = re.compile(r"[A-Za-z0-9_.~-]*").fullmatch
_ENCODED = str.maketrans({character: quote_plus(character) for character in map(chr, range(128))})
"""Every character of ASCII as a form has it."""
_MAX_PORT = 65535
_SHARED_HOSTS = frozenset({"localhost", "127.0.0.1", "::1"})
"""On any machine: native apps that have nothing else in common answer there (RFC 8252 §7.3)."""


def with_query(uri: str, parameters: Mapping[str, str]) -> str:
    """Return the URI with parameters after those that it has already (RFC 6749 §3.1, §3.1.2)."""
    return uri + ("&" if "?" in uri else "?") + form_encoded(parameters)


def form_encoded(parameters: Mapping[str, str]) -> str:
    """Return the parameters form-encoded."""
    return "&".join(
        [f"{_encode_name(name)}={_encode(value)}" for name, value in parameters.items()]
    )


def _encode(text: str) -> str:
    if _UNRESERVED(text):  # as most do
        return text
    return text.translate(_ENCODED) if text.isascii() else quote_plus(text)


_encode_name = lru_cache(maxsize=1000)(_encode)
"""Names of parameters are few."""


def is_registered(
    redirect_uri: str, registered: Iterable[str], *, loopback_port_may_vary: bool
) -> bool:
    """Return whether the client registered the redirect URI as an exact string (RFC 6749 §3.1.2.3).

    The port may vary at a loopback address (RFC 8252 §7.3), and at `localhost` only where the registered URI names none.
    """
    registered = tuple(registered)
    if redirect_uri in registered:
        return True
    if not loopback_port_may_vary:
        return False
    portless = _remove_loopback_port(redirect_uri)
    return portless is not None and any(
        _remove_loopback_port(uri) == portless
        for uri in registered
        if not uri.startswith(_LOCALHOST_WITH_PORT)
    )


def _remove_loopback_port(uri: str) -> tuple[str, str] | None:
    """Return the URI in two parts around its port, or None if its host is not this machine."""
    match = _LOOPBACK.fullmatch(uri)
    if match is None or int(match[2] or 0) > _MAX_PORT:
        return None
    return match[1], match[3] or ""


def origin_of(uri: str) -> str | None:
    """Return the origin of a web page's URI, as a browser sends it (RFC 6454 §6.2)."""
    url = urlsplit(uri)
    if url.scheme not in DEFAULT_PORTS or url.hostname is None:
        return None
    host = f"[{url.hostname}]" if ":" in url.hostname else url.hostname
    port = "" if url.port in (None, DEFAULT_PORTS[url.scheme]) else f":{url.port}"
    return f"{url.scheme}://{host}{port}"


def is_origin(text: str) -> bool:
    """Return whether a browser, a WebView or an extension sends this as its origin (RFC 6454 §6.2)."""
    scheme = text.partition(":")[0]
    if scheme in DEFAULT_PORTS:
        return origin_of(text) == text
    return _ORIGIN.fullmatch(text) is not None


def private_use_scheme(uri: str) -> str | None:
    """Return the scheme by which an application on the user's device gets the answer; None for the web's (RFC 8252 §7.1)."""
    scheme, colon, _ = uri.partition(":")
    return scheme.lower() if colon and scheme.lower() not in DEFAULT_PORTS else None


def redirect_hosts(redirect_uris: Iterable[str]) -> frozenset[str]:
    """Return the hosts of web redirect URIs; a private-use scheme has none (RFC 8252 §7.1)."""
    web = (_host(uri) for uri in redirect_uris if uri.lower().startswith(("https://", "http://")))
    return frozenset(host for host in web if host)


def sector_identifier(
    sector_identifier_uri: str | None, redirect_uris: Iterable[str]
) -> str | None:
    """Return the host whose clients know a user by the same pairwise identifier (OIDC Core §8.1).

    That is the host of the sector's document, else the only host of the redirect URIs; None for no
    host of its own. The registration refuses several hosts without a document.
    """
    if sector_identifier_uri is not None:
        return _host(sector_identifier_uri)
    hosts = redirect_hosts(redirect_uris)
    return next(iter(hosts - _SHARED_HOSTS), None) if len(hosts) == 1 else None


def _host(uri: str) -> str | None:
    try:
        return urlsplit(uri).hostname
    except ValueError:
        return None


class Redirect(msgspec.Struct, frozen=True):
    location: str


class FormPost(msgspec.Struct, frozen=True):
    """Form fields for the redirect URI (OAuth 2.0 Form Post Response Mode §2)."""

    redirect_uri: str
    fields: Mapping[str, str]


Delivery = Redirect | FormPost
