"""Writes the headers that keep a page safe (CSP3, RFC 9700 §4.16)."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Iterable
from urllib.parse import urlsplit

_HOST = re.compile(r"[a-z0-9.-]+")


def page_headers(
    *,
    language: str,
    form_action: Iterable[str],
    img_src: Iterable[str],
    frame_src: Iterable[str],
    script: str | None,
) -> dict[str, str]:
    """Return the headers of a page that posts to, shows and frames these URIs.

    It runs this one inline script, or else static files of this service. What all answers have in
    common adds `http/gate.py`.
    """
    directives = {
        "default-src": ["'none'"],
        "style-src": ["'self'"],
        "font-src": ["'self'"],
        "img-src": ["'self'", "data:", *_sources(img_src)],
        "form-action": ["'self'", *_sources(form_action)],
        "frame-src": _sources(frame_src),
        "script-src": ["'self'" if script is None else script_hash(script)],
        "frame-ancestors": ["'none'"],
        "base-uri": ["'none'"],
    }
    written = [dict.fromkeys([name, *sources]) for name, sources in directives.items() if sources]
    return {
        "Content-Security-Policy": "; ".join(map(" ".join, written)),
        "Content-Language": language,
        "X-Frame-Options": "DENY",
        "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    }


def script_hash(script: str) -> str:
    """Return the source that allows this inline script (CSP3 §2.3.1)."""
    digest = hashlib.sha256(script.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


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
