"""Rules on the URIs that a browser is sent to, and on the origins that may call."""

from __future__ import annotations

import re
from collections.abc import Iterator
from urllib.parse import SplitResult

from service.config.problem import Finding, warning
from service.config.rules.uris import is_loopback, is_public, split_uri
from service.config.schema.client import ClientEntry
from service.protocol.redirect_uri import origin_of

_DANGEROUS_SCHEMES = frozenset(
    {
        "about",
        "blob",
        "chrome",
        "data",
        "file",
        "filesystem",
        "ftp",
        "intent",
        "javascript",
        "jar",
        "mailto",
        "vbscript",
        "view-source",
        "ws",
        "wss",
    }
)
_FORBIDDEN_CHARACTERS = re.compile(r"[\x00-\x20\x7f\\<>\"{}|^`]|[^\x00-\x7f]")


def redirect_uris_are_safe(client: ClientEntry) -> Iterator[Finding]:
    """A code or token goes to one exact place that is the client's (RFC 9700 §4.1, RFC 8252 §7)."""
    for name in ("redirect_uris", "post_logout_redirect_uris"):
        uris: tuple[str, ...] = getattr(client, name)
        for at, uri in enumerate(uris):
            for finding in (*_findings_of(uri), *_judge_http(client, name, uri)):
                yield finding.below(name, at)


def _judge_http(client: ClientEntry, name: str, uri: str) -> Iterator[Finding]:
    """An error where a code or token crosses the public network readably (RFC 9700 §2.6)."""
    parts = split_uri(uri)
    host = parts.hostname or "" if parts and parts.scheme == "http" else ""
    if not host or is_loopback(host):
        return
    message = "http lets everyone on the way read the answer"
    if name == "post_logout_redirect_uris" or not is_public(host):
        yield warning((), message, "use https")
    elif not client.allow_insecure_redirect_uris:
        hint = "use https, or set allow_insecure_redirect_uris: true"
        yield Finding((), message, hint)


def _findings_of(uri: str) -> Iterator[Finding]:
    parts = split_uri(uri)
    if parts is None or not parts.scheme:
        yield Finding((), "expected an absolute URI (RFC 6749 §3.1.2)")
    elif parts.scheme in _DANGEROUS_SCHEMES:
        yield Finding((), f"the scheme {parts.scheme}: is dangerous in a redirect")
    elif _FORBIDDEN_CHARACTERS.search(uri):
        yield Finding((), "has characters that a URI cannot have", "percent-encode them")
    elif "*" in uri:
        yield Finding(
            (), "redirect URIs are compared exactly; a * stands for itself", "list each one"
        )
    elif "#" in uri:
        yield Finding((), "a redirect URI has no fragment (RFC 6749 §3.1.2)")
    else:
        yield from _findings_of_target(parts)


def _findings_of_target(parts: SplitResult) -> Iterator[Finding]:
    if parts.scheme not in {"http", "https"}:
        if _looks_like_host_and_port(parts):
            web = "http" if is_loopback(parts.scheme) else "https"
            message = f"{parts.scheme}: is read as a private-use scheme, not as a host"
            yield warning((), message, f"did you mean {web}://{parts.geturl()}?")
        elif "." not in parts.scheme:
            message = (
                "a private-use scheme should be a domain name in reverse, such as com.example.app"
            )
            yield warning((), message, "RFC 8252 §7.1")
    elif not parts.hostname:
        yield Finding((), "has no host")
    elif "@" in parts.netloc:
        yield Finding((), "has user information before its host")


def _looks_like_host_and_port(parts: SplitResult) -> bool:
    is_like_host = parts.scheme == "localhost" or "." in parts.scheme
    return is_like_host and not parts.netloc and parts.path[:1].isdecimal()


def cors_origins_are_origins(client: ClientEntry) -> Iterator[Finding]:
    """What a browser sends as Origin has neither path nor wildcard (RFC 6454 §7)."""
    for at, origin in enumerate(client.allowed_cors_origins):
        if split_uri(origin) is None or origin_of(origin) != origin:
            message = "expected an origin such as https://app.example.com (RFC 6454 §6.2)"
            yield Finding(
                ("allowed_cors_origins", at), message, "no path, no slash at the end, no *"
            )
