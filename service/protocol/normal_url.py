"""Brings URLs into the form in which they are compared (RFC 3986 §6.2.2, §6.2.3)."""

from __future__ import annotations

import re
from urllib.parse import urljoin, urlsplit

_ESCAPED = re.compile("%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile("[A-Za-z0-9._~-]")
_NO_URL = re.compile(r"[\x00-\x20\x7f#]")
"""What no URL without a fragment holds; Python leaves some of it out where it splits one."""
DEFAULT_PORTS = {"http": 80, "https": 443}


def normalize_url(url: str) -> str | None:
    """Return the normal form: scheme and host in small letters, no default port, a path; the query stays as it is.

    None for a text that has no host, has a fragment, or breaks the syntax of URLs.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError:
        return None
    if not parts.scheme or not host or "@" in parts.netloc or _NO_URL.search(url):
        return None
    authority = f"[{host}]" if ":" in host else host
    if port not in {None, DEFAULT_PORTS.get(parts.scheme)}:
        authority += f":{port}"
    path = _ESCAPED.sub(_unescape, parts.path)
    # Without the dot a path that begins with two slashes would be read as another host (RFC 3986 §4.2).
    # Of schemes that Python does not know it would keep the path alone.
    _, _, path, *_ = urlsplit(urljoin("https://host", f"/.{path}"))
    normal = f"{parts.scheme}://{authority}{path}"
    return f"{normal}?{parts.query}" if parts.query else normal


def _unescape(escaped: re.Match[str]) -> str:
    character = chr(int(escaped[0][1:], 16))
    return character if _UNRESERVED.fullmatch(character) else escaped[0].upper()
