"""Random bytes for codes and tokens, drawn from the operating system many at a time: each draw is a system call."""

from __future__ import annotations

import os
from collections import defaultdict, deque

from service.protocol.base64url import base64url

BLOCK = 32
"""Bytes that one call can return: 256 bits are enough for every secret (RFC 6749 §10.10)."""

_TOGETHER = 64
"""Blocks that are drawn at once."""

_blocks: deque[bytes] = deque()
_texts = defaultdict[int, deque[str]](deque)
"""By their length in bytes."""
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
