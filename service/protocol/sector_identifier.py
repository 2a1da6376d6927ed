"""Which clients know a person by the same pairwise identifier? (OIDC Core §8.1)"""

from __future__ import annotations

from collections.abc import Iterable
from urllib.parse import urlsplit

_EVERYBODYS = frozenset({"localhost", "127.0.0.1", "::1"})
"""On any machine: native apps that have nothing else in common answer there (RFC 8252 §7.3)."""


def redirect_hosts(redirect_uris: Iterable[str]) -> frozenset[str]:
    """The hosts that a client answers at; a private-use scheme has none (RFC 8252 §7.1)."""
    web = (_host(uri) for uri in redirect_uris if uri.lower().startswith(("https://", "http://")))
    return frozenset(host for host in web if host)


def sector_identifier(
    sector_identifier_uri: str | None, redirect_uris: Iterable[str]
) -> str | None:
    """The host of the sector's document, else the one host of the redirect URIs; None for no host of its own.

    The registration refuses several hosts without a document.
    """
    if sector_identifier_uri is not None:
        return _host(sector_identifier_uri)
    hosts = redirect_hosts(redirect_uris)
    return next(iter(hosts - _EVERYBODYS), None) if len(hosts) == 1 else None


def _host(uri: str) -> str | None:
    try:
        return urlsplit(uri).hostname
    except ValueError:
        return None
