"""Encodes bytes as base64url without padding (RFC 4648 §5, RFC 7515 §2)."""

from __future__ import annotations

from binascii import b2a_base64

_OF_URLS = bytes.maketrans(b"+/", b"-_")


def base64url(content: bytes) -> str:
    return b2a_base64(content, newline=False).rstrip(b"=").translate(_OF_URLS).decode()


def base64url_ascii(content: bytes) -> bytes:
    """Return the characters as bytes, for what is hashed next."""
    # `translate` could drop the padding, but would make a table of all bytes for that each time.
    return b2a_base64(content, newline=False).rstrip(b"=").translate(_OF_URLS)
