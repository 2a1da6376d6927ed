"""Remembers the files that the configuration was read from, and tells whether one has changed since."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

Stamp = tuple[int, int, int] | None
"""It differs after any change of a file, of a folder's entries, or of a link's target; None: there is no file."""


class FilesRead:
    """Every file and folder that was read, each as it was just before."""

    def __init__(self) -> None:
        self._stamps: dict[Path, Stamp] = {}

    def __len__(self) -> int:
        """Return how many there are."""
        return len(self._stamps)

    @property
    def paths(self) -> tuple[Path, ...]:
        """The files and folders."""
        return tuple(self._stamps)

    def note(self, path: Path) -> None:
        """Remember a file as it is now; to be called before it is read, so that no change falls in between."""
        absolute = path.absolute()
        self._stamps.setdefault(absolute, stamp_of(absolute))

    def include(self, others: FilesRead) -> None:
        """Add those, as they were when they were noted."""
        self._stamps = others._stamps | self._stamps

    def now(self) -> Mapping[Path, Stamp]:
        """Return the same files and folders as they are now."""
        return {path: stamp_of(path) for path in self._stamps}

    def differ_from(self, now: Mapping[Path, Stamp]) -> bool:
        """Return whether any has changed; one that is gone has not, because it is being replaced."""
        return any(now[path] not in (read, None) for path, read in self._stamps.items())


def stamp_of(path: Path) -> Stamp:
    """Return what changes with a file, a folder or the target of a link."""
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_ctime_ns, status.st_ino, status.st_size
