"""URIs: taken apart, compared (RFC 3986 §6.2.2, §6.2.3), and whether their host is this machine or public.

A client_id may be the URL of a metadata document (draft-ietf-oauth-client-id-metadata-document-02 §3).
"""

from __future__ import annotations

import re
from ipaddress import ip_address
from urllib.parse import SplitResult, urljoin, urlsplit

import msgspec

_ESCAPED = re.compile("%[0-9A-Fa-f]{2}")
_UNRESERVED = re.compile("[A-Za-z0-9._~-]")
_NO_URL = re.compile(r"[\x00-\x20\x7f#]")
"""Characters that no URL without a fragment holds; Python leaves some of it out where it splits one."""
_SPACE_OR_CONTROL = re.compile(r"[\s\x00-\x1f\x7f]")
DEFAULT_PORTS = {"http": 80, "https": 443}
MAX_CLIENT_ID_URL = 256
_CLIENT_ID_URL = re.compile(
    r"(?P<origin>https://(?P<place>(?P<host>[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]{2,45}\])"
    r"(?::(?!443/)[1-9][0-9]{0,4})?))"
    r"(?P<path>/(?:[A-Za-z0-9._~!$&'()*+,;=:@/-]|%[0-9A-Fa-f]{2})*)"
)
_DOTS = re.compile(r"(?:\.|%2e){1,2}", re.IGNORECASE)

_PRIVATE_DOMAINS = (".internal", ".local", ".home.arpa", ".test")
"""Names that no public DNS server answers for (RFC 6761, RFC 6762, RFC 8375)."""


def split_uri(uri: str) -> SplitResult | None:
    """Return the parts of a URI, or None if it is not one."""
    try:
        parts = urlsplit(uri)
        port = parts.port
    except ValueError:
        return None
    return None if port == 0 else parts


def is_web_url(text: str) -> bool:
    """Return whether the text is an absolute http or https URL."""
    parts = split_uri(text)
    is_absolute = parts is not None and parts.scheme in {"http", "https"} and bool(parts.hostname)
    return is_absolute and not _SPACE_OR_CONTROL.search(text)


def is_loopback(host: str) -> bool:
    """Return whether the host of a URL can only be this machine (RFC 6761 §6.3)."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def is_on_loopback(uri: str) -> bool:
    """Return whether an answer there goes to an application on the user's own machine (RFC 8252 §7.3)."""
    parts = split_uri(uri)
    return parts is not None and parts.scheme == "http" and is_loopback(parts.hostname or "")


def is_unencrypted(uri: str) -> bool:
    """Return whether a request for the URL would cross a network without TLS."""
    parts = split_uri(uri)
    return parts is not None and parts.scheme == "http" and not is_loopback(parts.hostname or "")


def crosses_public_network(uri: str) -> bool:
    """Return whether a redirect to the URI would cross the public network without TLS (RFC 9700 §2.6)."""
    parts = split_uri(uri)
    return parts is not None and parts.scheme == "http" and is_public(parts.hostname or "")


def is_public(host: str) -> bool:
    """Return whether the host of a URL may be reached over the public network."""
    try:
        return ip_address(host).is_global
    except ValueError:
        return "." in host.rstrip(".") and not host.rstrip(".").endswith(_PRIVATE_DOMAINS)


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


class ClientIdUrl(msgspec.Struct, frozen=True):
    """A URL that can be a client_id."""

    url: str
    origin: str
    place: str
    """The host, with its port unless that is 443."""
    host: str

    @property
    def has_port(self) -> bool:
        return self.place != self.host


def parse_client_id_url(client_id: str) -> ClientIdUrl | None:
    """Return its parts; None unless it is https, has a path, and no user information, query, fragment or dot segment.

    A host in capitals and the port 443 would be second names of one client, and are refused.
    """
    found = _CLIENT_ID_URL.fullmatch(client_id) if len(client_id) <= MAX_CLIENT_ID_URL else None
    if found is None or any(map(_DOTS.fullmatch, found["path"].split("/"))):
        return None
    return ClientIdUrl(client_id, found["origin"], found["place"], found["host"])
