"""Random bytes for codes and tokens, drawn from the operating system many at a time: each draw is a system call."""

from __future__ import annotations

import os
from collections import deque

from service.protocol.base64url import base64url

BLOCK = 32
"""Bytes that one call can return: 256 bits are enough for every secret (RFC 6749 §10.10)."""

_TOGETHER = 64
"""Blocks that are drawn at once."""

_CHARACTERS = 44
"""Those of a block as text; each has six random bits."""

_blocks: deque[bytes] = deque()
_texts: deque[str] = deque()
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
    """Return at least as many random bits as in so many bytes, at most 32, as characters of base64url."""
    try:
        block = _texts.pop()
    except IndexError:
        drawn = base64url(os.urandom(_TOGETHER * _CHARACTERS * 6 // 8))
        block, *others = [drawn[at : at + _CHARACTERS] for at in range(0, len(drawn), _CHARACTERS)]
        _texts.extend(others)
    return block[: (length * 8 + 5) // 6]
