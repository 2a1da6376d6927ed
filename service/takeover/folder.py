"""Writes files into a new folder that appears as a whole, or not at all."""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp
from typing import IO

SECRETS = "secrets"
FILES = frozenset(
    {
        *("config.yaml", "registry.yaml", "users.yaml", "users.sql"),
        *("factors.json", "keys.json", SECRETS),
    }
)
"""All that a takeover ever writes; a folder with anything else is never replaced."""


class FolderRefused(Exception):
    """The folder cannot be written; the message says why."""


class NewFolder:
    """A folder that nobody sees before it is complete."""

    def __init__(self, path: Path) -> None:
        """Take the folder that is being made."""
        self._path = path
        self._secrets = 0

    def open(self, name: str) -> IO[str]:
        """Open a new file that only its owner may read."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        descriptor = os.open(self._path / name, flags, 0o600)
        return os.fdopen(descriptor, "w", encoding="utf-8", newline="\n")

    def keep_secret(self, text: str) -> str:
        """Write a text into a file of its own, and return its name."""
        if not self._secrets:
            (self._path / SECRETS).mkdir(mode=0o700)
        self._secrets += 1
        name = f"{SECRETS}/{self._secrets}"
        with self.open(name) as file:
            # The reader of config.yaml takes one line end away, which may be one of the text.
            file.write(f"{text}\n")
        return name


@contextmanager
def new_folder(target: Path, *, replace: bool) -> Generator[NewFolder]:
    """Make a folder; it has its name when all is written. Raise FolderRefused, also where there is one already and not `replace`."""
    target = target.absolute()
    try:
        _check(target, replace=replace)
        target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        made = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise FolderRefused(f"{target}: {error.strerror}") from error
    try:
        yield NewFolder(made)
        _put_in_place(made, target, replace=replace)
    except OSError as error:
        raise FolderRefused(f"{target}: {error.strerror}") from error
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _check(target: Path, *, replace: bool) -> None:
    try:
        mode = target.lstat().st_mode
    except FileNotFoundError:
        return
    if not stat.S_ISDIR(mode):
        raise FolderRefused(f"{target} is no folder (links are not followed)")
    present = sorted(each.name for each in target.iterdir())
    kept = target / SECRETS
    secrets = [each.name for each in kept.iterdir()] if kept.is_dir() else []
    if not FILES.issuperset(present) or not all(map(str.isdecimal, secrets)):
        message = "has files that an import does not write, so that it is not replaced"
        raise FolderRefused(f"{target} {message}: name another folder")
    if present and not replace:
        raise FolderRefused(f"{target} exists: name another folder, or add --force")


def _put_in_place(made: Path, target: Path, *, replace: bool) -> None:
    """Give the folder its name; the one that had it goes only then."""
    _check(target, replace=replace)
    if not target.exists() or not any(target.iterdir()):
        made.rename(target)
        return
    before = Path(mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        target.rename(before)
        try:
            made.rename(target)
        except OSError:
            before.rename(target)
            raise
    finally:
        shutil.rmtree(before, ignore_errors=True)
