"""Bytes as base64url without padding (RFC 4648 §5, RFC 7515 §2), and random ones.

Random bytes are drawn from the operating system many at a time, because each draw is a system call.
"""

from __future__ import annotations

import os
from binascii import a2b_base64, b2a_base64
from collections import defaultdict, deque

BLOCK = 32
"""Bytes that one call can return: 256 bits are enough for every secret (RFC 6749 §10.10)."""
_TOGETHER = 64
"""Blocks that are drawn at once."""
_blocks: deque[bytes] = deque()
_texts = defaultdict[int, deque[str]](deque)
"""By their length in bytes."""

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


for _drawn in (_blocks, _texts):
    os.register_at_fork(after_in_child=_drawn.clear)  # no two processes may have the same


def random_bytes(length: int) -> bytes:
    """Return at most 32 bytes that nobody can guess; each block is used once, whatever the thread."""
    try:
        block = _blocks.pop()
    except IndexError:
        drawn = os.urandom(_TOGETHER * BLOCK)
        block, *others = [drawn[at : at + BLOCK] for at in range(0, len(drawn), BLOCK)]
        _blocks.extend(others)
    return block[:length]


def random_text(length: int) -> str:
    """Return at least as many random bits as in so many bytes, as characters of base64url; each text is used once."""
    try:
        return _texts[length].pop()
    except IndexError:
        characters = (length * 8 + 5) // 6
        drawn = base64url(os.urandom(_TOGETHER * characters * 6 // 8))
        text, *others = [drawn[at : at + characters] for at in range(0, len(drawn), characters)]
        _texts[length].extend(others)
        return text
