"""Encodes bytes as base64url without padding, and decodes them (RFC 4648 §5, RFC 7515 §2)."""

from __future__ import annotations

from binascii import a2b_base64, b2a_base64

_OF_URLS, _STANDARD = bytes.maketrans(b"+/", b"-_"), bytes.maketrans(b"-_", b"+/")

ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
_LAST_OF_16 = {character: "AQgw"[six_bits >> 4] for six_bits, character in enumerate(ALPHABET)}
"""The last character of 16 bytes, which holds two bits of them, by the one of longer content in its place."""


def base64url(content: bytes) -> str:
    # `translate` could drop the padding, but would make a table of all bytes for that each time.
    return b2a_base64(content).rstrip(b"=\n").translate(_OF_URLS).decode()


def decode_base64url(text: str) -> bytes:
    """Return the bytes; ValueError for text of another length, or beyond ASCII."""
    return a2b_base64(text.encode("ascii").translate(_STANDARD) + b"==")


def first_16_bytes(encoded: str) -> str:
    """Return the first 16 bytes of longer content, base64url like that, without decoding it."""
    return encoded[:21] + _LAST_OF_16[encoded[21]]
