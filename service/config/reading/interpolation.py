"""Replaces `${NAME}`, `${NAME:-default}`, `${file:path}` and `$${` in values."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from service.config.reading.files import FilesRead

_REFERENCE = re.compile(r"(?P<plain>\$\$\{)|\$\{(?P<inside>[^}]*)(?P<closed>\}?)")
_NAME = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)
_FILE = "file:"
_MAX_FILE_BYTES = 1_048_576
ANY_PORT = ("SERVICE_PORT", "0")
"""Lets the system choose a port to listen on; it is no part of a URL."""


class Unresolved(Exception):
    """A reference that means nothing."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class Interpolation:
    """Replaces references by the environment's values and by files' contents."""

    environ: Mapping[str, str]
    files: FilesRead
    """Notes every file that is referred to."""
    variables: set[str] = field(default_factory=set)
    """The names of all environment variables that are referred to."""

    def replace(self, text: str, file: Path) -> str:
        """Return the text of a file with every reference replaced; what is put in is not replaced again."""
        return _REFERENCE.sub(lambda reference: self._value(reference, file), text)

    def _value(self, reference: re.Match[str], file: Path) -> str:
        inside = reference["inside"]
        if reference["plain"]:
            return "${"
        if not reference["closed"]:
            raise Unresolved("${ is not closed by }", "write $${ for a plain ${")
        if inside.startswith(_FILE):
            return self._content(inside.removeprefix(_FILE), file.absolute().parent)
        variable = _NAME.fullmatch(inside)
        if variable is None:
            raise Unresolved(f"${{{inside}}} names no variable", "write $${ for a plain ${")
        name, default = variable["name"], variable["default"]
        self.variables.add(name)
        value = self.environ.get(name)
        if (name, value) == ANY_PORT:
            value = None
        if default is not None:
            return value or default
        if value is None:
            hint = f"set it, or give a default: ${{{name}:-…}}"
            raise Unresolved(f"the environment variable {name} is not set", hint)
        return value

    def _content(self, name: str, directory: Path) -> str:
        path = directory / name
        try:
            self.files.note(path)
            if path.exists() and not path.is_file():
                raise ValueError  # noqa: TRY301 - explained like a file that is not text
            with path.open("rb") as file:
                content = file.read(_MAX_FILE_BYTES).decode()
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not a text file"
            hint = f"a relative path begins at {directory}"
            raise Unresolved(f"the file {name} cannot be read: {reason}", hint) from error
        return content.removesuffix("\n").removesuffix("\r")


def is_one_reference(text: str) -> bool:
    """Return whether the whole text is one reference."""
    reference = _REFERENCE.fullmatch(text)
    return reference is not None and not reference["plain"]
