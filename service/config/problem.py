"""Problems of a configuration file, with their places."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from difflib import get_close_matches
from textwrap import indent
from typing import Literal

import msgspec
from msgspec.structs import replace

from service.config.reading.files import FilesRead

Severity = Literal["error", "warning"]
Location = tuple[str | int, ...]
"""The keys and list positions that lead from the top of the file to a value."""


class Finding(msgspec.Struct, frozen=True):
    """The result of a check of the value at a location."""

    location: Location
    message: str
    hint: str | None = None
    severity: Severity = "error"
    at_key: bool = False
    """Whether the key itself is wrong, not its value."""
    first: Location | None = None
    """The location of the same name before, maybe in another file."""

    def below(self, *parents: str | int) -> Finding:
        """The same finding, seen from the file's top."""
        return replace(self, location=(*parents, *self.location))


def warning(location: Location, message: str, hint: str | None = None) -> Finding:
    """Return a finding that does not prevent a start."""
    return Finding(location, message, hint, "warning")


def report_unknown(location: Location, name: str, known: Collection[str], what: str) -> Finding:
    """Return the finding of a name of something that there is not, with the nearest name of what there is."""
    hint = nearest(name, known) or f"known: {', '.join(sorted(known)) or 'none'}"
    return Finding(location, f"there is no {what} {name}", hint)


def nearest(word: object, known: Iterable[str]) -> str | None:
    """Return a hint at the known word that is most like this one."""
    close = find_closest(str(word), known)
    return None if close is None else f"did you mean {close}?"


def find_closest(word: str, known: Iterable[str]) -> str | None:
    """Return the known word that is most like this one, if it is like any."""
    return next(iter(get_close_matches(word, list(known), n=1)), None)


def encrypted_key(location: Location) -> Finding:
    """Return the finding of a private key for TLS that has a passphrase."""
    message = "the private key is encrypted, and nobody enters its passphrase at a start"
    return Finding(location, message, "remove it: openssl pkey -in KEY.pem -out PLAIN.pem")


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """A finding with the file, line and column that a person has to look at."""

    file: str
    """Or the environment variable or flag that has replaced the value of the file."""
    line: int = 0
    """0 where it is no file."""
    column: int = 0
    path: str = ""
    message: str
    severity: Severity = "error"
    hint: str | None = None
    excerpt: str | None = None
    """The line of the file with a caret below it, where that helps; without values, which may be secret."""

    def __str__(self) -> str:
        """Return one line, without the control characters that keys and names may contain."""
        path = f"{self.path}: " if self.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        line = f"{place}: {self.severity}: {path}{self.message}{hint}"
        return "".join(letter if letter.isprintable() else "?" for letter in line)

    def describe(self) -> str:
        """Return the line for a terminal, with the excerpt below it."""
        return f"{self}\n{indent(self.excerpt, '    ')}" if self.excerpt else str(self)


class CannotServe(Exception):
    """Something that the configuration names cannot be made, although every rule was met."""

    def __init__(self, finding: Finding) -> None:
        """Take the finding; the configuration knows its place."""
        super().__init__(finding.message)
        self.finding = finding


class ConfigError(Exception):
    """Every problem that keeps a configuration file from being used."""

    def __init__(self, problems: Iterable[Problem], files: FilesRead | None = None) -> None:
        """Take the files that were read as well: a change of one of them may mend it."""
        self.problems = tuple(problems)
        self.files = files or FilesRead()
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[ConfigError], tuple[tuple[Problem, ...], FilesRead]]:
        """Go to another process as what it is made of."""
        return ConfigError, (self.problems, self.files)
