"""A folder as Kubernetes mounts a ConfigMap or Secret: each name leads through the one link `..data`."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from itertools import count
from pathlib import Path


class Mounted:
    """Changes whole, by a swap of that link, as the kubelet's AtomicWriter does it."""

    def __init__(self, folder: Path, files: Mapping[str, str]) -> None:
        folder.mkdir()
        self.folder = folder
        self._versions = count()
        self.update(files)

    def __truediv__(self, name: str) -> Path:
        """One of its files."""
        return self.folder / name

    def update(self, files: Mapping[str, str]) -> None:
        """Hold these files from now on, and no others."""
        data = self.folder / "..data"
        before = data.resolve() if data.exists() else None
        version = self.folder / f"..version-{next(self._versions)}"
        version.mkdir()
        for name, text in files.items():
            (version / name).write_text(text)
        swapped = self.folder / "..data_tmp"
        swapped.symlink_to(version.name)
        swapped.rename(data)
        for name in files:
            if not (self / name).is_symlink():
                (self / name).symlink_to(f"..data/{name}")
        for link in self.folder.glob("[!.]*"):
            if link.name not in files:
                link.unlink()
        if before is not None:
            shutil.rmtree(before)
