"""The URIs of a client, as Keycloak reads them: relative ones, patterns, and signs that stand for others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

import msgspec

from service.takeover.node import Node, quoted
from service.takeover.report import Report

_SEPARATOR = "##"
_SHOWS_THE_CODE = "urn:ietf:wg:oauth:2.0:oob"
_LIST_EACH = "list each URI that the application really uses"


class ClientUris(msgspec.Struct, kw_only=True):
    """The URIs of a client with the place of each."""

    redirect_uris: dict[str, str] = msgspec.field(default_factory=dict)
    post_logout_redirect_uris: dict[str, str] = msgspec.field(default_factory=dict)
    origins: dict[str, str] = msgspec.field(default_factory=dict)

    @property
    def places(self) -> dict[tuple[str, str], str]:
        """The place of each URI, by the key of the client that has it."""
        by_key = {
            "redirect_uris": self.redirect_uris,
            "post_logout_redirect_uris": self.post_logout_redirect_uris,
            "allowed_cors_origins": self.origins,
        }
        return {(key, uri): place for key, uris in by_key.items() for uri, place in uris.items()}


def read_uris(node: Node, report: Report) -> ClientUris:
    """Return the URIs that can be taken; report patterns."""
    root, uris = node.text("rootUrl") or "", ClientUris()
    origins_of_patterns = _read_redirect_uris(node, root, uris, report)
    _read_post_logout_uris(node.below("attributes"), root, uris, report)
    for item in node.items("webOrigins"):
        origin = item.as_text()
        if origin == "+":
            uris.origins |= origins_of_patterns
        elif origin == "*":
            report.leave_out(
                item.place, "every origin", "list the origins of the application's pages"
            )
        elif origin:
            uris.origins[origin.rstrip("/")] = item.place
    return uris


def _read_redirect_uris(
    node: Node, root: str, uris: ClientUris, report: Report
) -> Mapping[str, str]:
    """Take the redirect URIs; return the origins of patterns, each with its place."""
    origins: dict[str, str] = {}
    for item in node.items("redirectUris"):
        uri = _absolute(item, root, report)
        if uri == _SHOWS_THE_CODE:
            message = "a page that shows the code to the user"
            report.leave_out(item.place, message, "let the application listen on a loopback port")
        elif uri is not None and "*" in uri:
            report.leave_out(item.place, f"a pattern of redirect URIs: {quoted(uri)}", _LIST_EACH)
            origin = _origin_of(uri)
            origins |= {origin: item.place} if origin else {}
        elif uri is not None:
            uris.redirect_uris[uri] = item.place
    return origins


def _read_post_logout_uris(attributes: Node, root: str, uris: ClientUris, report: Report) -> None:
    written = attributes.below("post.logout.redirect.uris")
    text = attributes.text("post.logout.redirect.uris")
    for uri in text.split(_SEPARATOR) if text else ():
        if uri == "+":
            uris.post_logout_redirect_uris |= uris.redirect_uris
        elif uri not in {"", "-"}:
            absolute = _absolute(Node(written.place, uri), root, report)
            if absolute is not None and "*" in absolute:
                reason = f"a pattern of URIs: {quoted(absolute)}"
                report.leave_out(written.place, reason, _LIST_EACH)
            elif absolute is not None:
                uris.post_logout_redirect_uris[absolute] = written.place


def _absolute(item: Node, root: str, report: Report) -> str | None:
    """Return an URI with the client's root before a path."""
    uri = item.as_text()
    if not uri.startswith("/") and uri not in {"*", "+", ""}:
        return uri
    if uri.startswith("/") and web_host(root):
        return root + uri
    if uri != "":
        relative = f"{quoted(uri)} is relative to nothing that the export names"
        message = relative if uri[0] == "/" else "any URI"
        report.leave_out(item.place, message, _LIST_EACH)
    return None


def web_host(url: str) -> str | None:
    """Return the host of a web URL; None without one."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return None
    return host if parts.scheme in {"http", "https"} else None


def _origin_of(uri: str) -> str | None:
    if web_host(uri) is None:
        return None
    parts = urlsplit(uri)
    return None if "*" in parts.netloc else f"{parts.scheme}://{parts.netloc}"


def needs_http(uris: ClientUris) -> Iterator[str]:
    """Yield the places of URIs that cross the network unencrypted."""
    for uri, place in (uris.redirect_uris | uris.post_logout_redirect_uris).items():
        host = web_host(uri)
        is_local = host in {"localhost", "::1"} or (host or "").startswith("127.")
        if uri.startswith("http://") and not is_local:
            yield place
