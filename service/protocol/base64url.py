"""Encodes bytes as base64url without padding (RFC 4648 §5, RFC 7515 §2)."""

from __future__ import annotations

from binascii import b2a_base64

_OF_URLS = bytes.maketrans(b"+/", b"-_")


def base64url(content: bytes) -> str:
    return b2a_base64(content, newline=False).translate(_OF_URLS, b"=").decode()


def base64url_ascii(content: bytes) -> bytes:
    """Return the characters as bytes, for what is hashed next."""
    return b2a_base64(content, newline=False).translate(_OF_URLS, b"=")
