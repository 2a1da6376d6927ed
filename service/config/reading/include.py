"""Which files does `include:` name?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from glob import glob, has_magic
from pathlib import Path

from service.config.problem import Finding, Location, warning
from service.config.reading.files import FilesRead
from service.config.reading.values import Value

_ENDINGS = (".yaml", ".yml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Included:
    """The files in the order in which they are joined, each once, and what is wrong with their names."""

    paths: tuple[Path, ...]
    findings: tuple[Finding, ...]


def included_by(main: Path, values: Value, files: FilesRead) -> Included:
    """What a main file's `include` stands for; folders are noted, so that a new file in them is noticed."""
    listed = values.get("include") if isinstance(values, dict) else None
    paths: dict[Path, None] = {}
    findings: list[Finding] = []
    for at, name in enumerate(listed if isinstance(listed, list) else []):
        if not isinstance(name, str) or not name:
            continue  # the schema says so
        for each in _named(name, main.parent, files, ("include", at)):
            if isinstance(each, Finding):
                findings.append(each)
            elif each.absolute() != main.absolute():
                paths[each] = None
    return Included(paths=tuple(paths), findings=tuple(findings))


def _named(
    name: str, directory: Path, files: FilesRead, location: Location
) -> Iterator[Path | Finding]:
    """The files that one entry of `include` names: a file, a folder's, or all that match a pattern."""
    try:
        found = _found(name, directory, files)
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


def _found(name: str, directory: Path, files: FilesRead) -> list[Path] | None:
    """What an entry stands for, links that lead nowhere among it; None where nothing has that name."""
    path = directory / name
    if has_magic(name):
        return _matching(name, directory, files)
    if path.is_dir():
        return _inside(path, files)
    if path.is_file():
        return [path]
    files.note(path)
    return None


def _inside(folder: Path, files: FilesRead) -> list[Path]:
    """The YAML files of a folder by their names; what begins with a dot is no file of the operator's."""
    files.note(folder)
    return sorted(
        entry
        for entry in folder.iterdir()
        if entry.suffix in _ENDINGS and not entry.name.startswith(".") and not entry.is_dir()
    )


def _matching(pattern: str, directory: Path, files: FilesRead) -> list[Path]:
    """The files that match a pattern by their names; no * stands for a name that begins with a dot."""
    folders = os.path.dirname(pattern)  # noqa: PTH120 - glob's own kind of path
    while has_magic(folders):
        for folder in glob(folders, root_dir=directory):  # noqa: PTH207 - Path.glob would look into hidden folders
            files.note(directory / folder)
        folders = os.path.dirname(folders)  # noqa: PTH120
    files.note(directory / folders)
    matches = (directory / match for match in glob(pattern, root_dir=directory))  # noqa: PTH207
    return sorted(path for path in matches if not path.is_dir())
