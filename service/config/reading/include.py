"""Finds the files that `include:` names."""

from __future__ import annotations

import os
from collections.abc import Iterator
from glob import glob, has_magic
from pathlib import Path

from service.config.problem import Finding, Location, warning
from service.config.reading.files import FilesRead
from service.config.reading.values import Value

_ENDINGS = (".yaml", ".yml")


def find_included(main: Path, listed: Value, files: FilesRead) -> Iterator[Path | Finding]:
    """Yield the files that `include` names, and what is wrong with the names; note files and folders."""
    for at, name in enumerate(listed if isinstance(listed, list) else []):
        if isinstance(name, str) and name:  # otherwise the schema says so
            yield from _find_files(name, main.parent, files, ("include", at))


def _find_files(
    name: str, directory: Path, files: FilesRead, location: Location
) -> Iterator[Path | Finding]:
    """Yield the files that one entry of `include` names: a file, those of a folder, or those of a pattern."""
    try:
        found = _list_files(name, directory, files)
        missing = {each for each in found or () if not each.is_file()}
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is no path"
        yield Finding(location, f"{name} cannot be read: {reason}")
        return
    if found is None:
        hint = f"a relative path begins at {directory.absolute()}"
        yield Finding(location, f"there is no file or folder {name}", hint)
        return
    for each in found:
        if each in missing:  # no error: a ConfigMap that loses a file is like that for a moment
            files.note(each)
            yield warning(location, f"{each} leads to no file", "remove it, or mend the link")
        else:
            yield each
    if not found:
        yield warning(location, f"there is no file in {name}", "remove it, or add one")


def _list_files(name: str, directory: Path, files: FilesRead) -> list[Path] | None:
    """Return the files of an entry, broken links too, without hidden files; None if nothing has that name."""
    path = directory / name
    if has_magic(name):
        return _list_matches(name, directory, files)
    files.note(path)
    if path.is_dir():
        return sorted(
            entry
            for entry in path.iterdir()
            if entry.suffix in _ENDINGS and not entry.name.startswith(".") and not entry.is_dir()
        )
    return [path] if path.is_file() else None


def _list_matches(pattern: str, directory: Path, files: FilesRead) -> list[Path]:
    folders = os.path.dirname(pattern)  # noqa: PTH120 - glob's own kind of path
    while has_magic(folders):
        for folder in glob(folders, root_dir=directory):  # noqa: PTH207 - Path.glob would look into hidden folders
            files.note(directory / folder)
        folders = os.path.dirname(folders)  # noqa: PTH120
    files.note(directory / folders)
    matches = (directory / match for match in glob(pattern, root_dir=directory))  # noqa: PTH207
    return sorted(path for path in matches if not path.is_dir())
