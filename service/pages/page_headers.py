"""Writes the headers that keep a page safe (CSP3, RFC 9700 §4.16)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9.-]+")


def content_security_policy(
    *,
    form_action: Iterable[str] = (),
    img_src: Iterable[str] = (),
    frame_src: Iterable[str] = (),
    script: str | None = None,
) -> str:
    """Write the policy of a page that posts to, shows and frames these URIs.

    It runs this one inline script, or else static files of this service.
    """
    directives = {
        "default-src": ["'none'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'", "data:", *_sources(img_src)],
        "form-action": ["'self'", *_sources(form_action)],
        "frame-src": _sources(frame_src),
        "script-src": ["'self'" if script is None else _hash(script)],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
    return "; ".join(
        " ".join(dict.fromkeys([name, *sources])) for name, sources in directives.items() if sources
    )


def framed_script_policy(script: str) -> str:
    """Write the policy of a page that only runs this script, in a frame of any site."""
    return f"default-src 'none'; script-src {_hash(script)}"


def page_headers(*, policy: str, language: str, secure: bool) -> dict[str, str]:
    """Return the headers of every page; `secure` if the issuer is https."""
    headers = {
        "Content-Security-Policy": policy,
        "Content-Language": language,
        "Cache-Control": "no-store",
        "Pragma": "no-cache",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Frame-Options": "DENY",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }
    if secure:
        headers["Strict-Transport-Security"] = "max-age=31536000"
    return headers


def _sources(uris: Iterable[str]) -> list[str]:
    return sorted({source for uri in uris if (source := _source(uri)) is not None})


def _source(uri: str) -> str | None:
    """Return a URI's origin, or its scheme if CSP cannot write the host, as with [::1] (CSP3 §2.3.1)."""
    parts = urlsplit(uri)
    if not parts.scheme:
        return None  # a path of this service, which 'self' allows
    authority = parts.netloc.rpartition("@")[2].lower()
    host, _, port = authority.partition(":")
    if _HOST.fullmatch(host) and (port.isdecimal() or not port):
        return f"{parts.scheme}://{authority}"
    return f"{parts.scheme}:"


def _hash(script: str) -> str:
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
