"""Says why a file or folder that the configuration names cannot be read."""

from __future__ import annotations

from pathlib import Path


def find_file_problem(path: Path) -> str | None:
    """Return why a file cannot be read, or None if it can."""
    try:
        if not path.is_file():
            return f"there is no file {path}"
        path.open("rb").close()
    except OSError as error:  # also of a folder that may not be searched
        return f"{path} cannot be read: {error.strerror}"
    return None


def find_folder_problem(path: Path) -> str | None:
    """Return why a folder cannot be listed, or None if it can."""
    try:
        if not path.is_dir():
            return f"there is no folder {path}"
        next(path.iterdir(), None)
    except OSError as error:
        return f"{path} cannot be read: {error.strerror}"
    return None
