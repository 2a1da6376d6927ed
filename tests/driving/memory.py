"""A folder in memory: servers there answer however busy the disk is with something else."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

SHARED_MEMORY = Path("/dev/shm")  # noqa: S108 - what is in it has names of its own
ENOUGH = 4 * 2**30
"""Bytes that have to be free; in a container there are often a few mebibytes alone."""


def folder_in_memory() -> str | None:
    """Return where temporary folders are to be made; None, which means the usual place, where memory has no room."""
    if not os.access(SHARED_MEMORY, os.W_OK):
        return None
    may_not_run_programs = os.statvfs(SHARED_MEMORY).f_flag & os.ST_NOEXEC
    if may_not_run_programs or shutil.disk_usage(SHARED_MEMORY).free < ENOUGH:
        return None
    return str(SHARED_MEMORY)
