"""Random bytes for codes and tokens, drawn from the operating system many at a time: each draw is a system call."""

from __future__ import annotations

import os
from collections import deque

from service.protocol.base64url import base64url

BLOCK = 32
"""Bytes that one call can return: 256 bits are enough for every secret (RFC 6749 §10.10)."""

_DRAWN = 64
"""Blocks that are drawn together."""

_blocks: deque[bytes] = deque()
os.register_at_fork(after_in_child=_blocks.clear)  # no two processes may have the same


def random_bytes(length: int) -> bytes:
    """Return at most 32 bytes that nobody can guess; each block is used once, whatever the thread."""
    try:
        block = _blocks.pop()
    except IndexError:
        drawn = os.urandom(_DRAWN * BLOCK)
        block, *others = [drawn[at : at + BLOCK] for at in range(0, len(drawn), BLOCK)]
        _blocks.extend(others)
    return block[:length]


def random_text(length: int) -> str:
    """Return as many random bytes, base64url."""
    return base64url(random_bytes(length))
