"""The metadata of protected resources: where they are, and how a challenge names them (RFC 9728)."""

from __future__ import annotations

from urllib.parse import quote

PATH = "/.well-known/oauth-protected-resource/"


def metadata_url(issuer: str, name: str) -> str:
    """Return the URL of the metadata of an API resource."""
    return issuer.rstrip("/") + PATH + quote(name, safe="")
