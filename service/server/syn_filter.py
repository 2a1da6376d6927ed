"""How is nobody new let in at a listening socket, while connections that are being made are completed?

A socket that is closed resets every connection that was made since the last look at it, and that caller may have sent a
request. So Linux is told first to drop what opens a connection; the caller's system asks again after a second,
and is refused then, or finds another process.
"""

from __future__ import annotations

import ctypes
import sys
from contextlib import suppress
from socket import SOL_SOCKET, socket
from struct import pack

_SO_ATTACH_FILTER, _SO_DETACH_FILTER = 26, 27
"""Linux' numbers, for which Python has no names."""

_PROGRAM = (  # classic BPF, on the TCP header (RFC 9293 §3.1)
    (0x30, 0, 0, 13),  # load the byte with the flags
    (0x45, 0, 1, 0x02),  # is SYN among them?
    (0x06, 0, 0, 0),  # then drop the packet
    (0x06, 0, 0, 0xFFFFFFFF),  # else take all of it
)


def let_nobody_in(listening: socket) -> None:
    """Drop what asks for a new connection; where the system knows no such filter, do nothing."""
    steps = ctypes.create_string_buffer(b"".join(pack("HBBI", *step) for step in _PROGRAM))
    _tell(listening, _SO_ATTACH_FILTER, pack("HL", len(_PROGRAM), ctypes.addressof(steps)))


def let_everybody_in(listening: socket) -> None:
    """Undo it, where a worker that has ended did it at a socket that its supervisor keeps."""
    _tell(listening, _SO_DETACH_FILTER, pack("i", 0))


def _tell(listening: socket, option: int, value: bytes) -> None:
    if sys.platform == "linux":
        with suppress(OSError):  # nothing is attached, or a sandbox forbids it
            listening.setsockopt(SOL_SOCKET, option, value)
