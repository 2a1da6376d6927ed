"""Runs a command that can write nowhere but in the folders named, as in a container with a read-only root.

    python read_only.py FOLDER... -- COMMAND...

The kernel's Landlock sees to it, for root too and without any right of its own; `available()` tells whether it does.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446
VERSION_WANTED, PATH_BENEATH, NO_NEW_PRIVILEGES = 1, 1, 38
WRITE_FILE = 1 << 1
WRITES = WRITE_FILE | sum(1 << bit for bit in range(4, 15))
"""Writing, truncating, removing, making, moving: all that changes a file system, as of the third version."""

_call = ctypes.CDLL(None, use_errno=True).syscall


def available() -> bool:
    """Whether this kernel can do it."""
    return int(_call(CREATE_RULESET, None, 0, VERSION_WANTED)) >= 3


def restrict(folders: list[str]) -> None:
    """Let this process, and what it becomes, write below these folders and to devices only."""
    handled = struct.pack("Q", WRITES)
    ruleset = _checked(_call(CREATE_RULESET, handled, len(handled), 0))
    for folder, allowed in [*((folder, WRITES) for folder in folders), ("/dev", WRITE_FILE)]:
        opened = os.open(folder, os.O_PATH)
        _checked(_call(ADD_RULE, ruleset, PATH_BENEATH, struct.pack("=Qi", allowed, opened), 0))
        os.close(opened)
    _checked(ctypes.CDLL(None, use_errno=True).prctl(NO_NEW_PRIVILEGES, 1, 0, 0, 0))
    _checked(_call(RESTRICT_SELF, ruleset, 0))


def _checked(result: int) -> int:
    if result < 0:
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
    return result


if __name__ == "__main__":
    end = sys.argv.index("--")
    restrict(sys.argv[1:end])
    os.execvp(sys.argv[end + 1], sys.argv[end + 1 :])  # noqa: S606 - no shell is the point
