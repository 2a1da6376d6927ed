"""Which files was the configuration read from, and has one of them changed since?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

Stamp = tuple[int, int, int] | None
"""What differs after any change of a file, of a folder's entries, or of what a link leads to; None: it is not there."""


class FilesRead:
    """Every file and folder that was looked at, each as it was just before."""

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self._stamps: dict[Path, Stamp] = {}
        for path in paths:
            self.note(path)

    def note(self, path: Path) -> None:
        """Remember how it is now; to be called before it is read, so that no change falls in between."""
        absolute = path.absolute()
        self._stamps.setdefault(absolute, _stamp(absolute))

    def include(self, others: FilesRead) -> None:
        """Take those, too, as they were when they were noted."""
        self._stamps = others._stamps | self._stamps

    def now(self) -> Mapping[Path, Stamp]:
        """The same files and folders as they are now."""
        return {path: _stamp(path) for path in self._stamps}

    def differ_from(self, now: Mapping[Path, Stamp]) -> bool:
        """Whether any has changed; one that has gone has not, because it is being replaced."""
        return any(now[path] not in (read, None) for path, read in self._stamps.items())


def _stamp(path: Path) -> Stamp:
    try:
        status = path.stat()
    except (OSError, ValueError):
        return None
    return status.st_ctime_ns, status.st_ino, status.st_size
