"""What is wrong with a configuration file, and where."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from textwrap import indent
from typing import Literal

from service.config.reading.files import FilesRead

Severity = Literal["error", "warning"]
Location = tuple[str | int, ...]
"""The keys and list positions that lead from the top of the file to a value."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check says of the value at a location."""

    location: Location
    message: str
    hint: str | None = None
    severity: Severity = "error"
    at_key: bool = False
    """Whether the key itself is wrong, not its value."""
    first: Location | None = None
    """Where the same stands already, maybe in another file."""

    def below(self, *parents: str | int) -> Finding:
        """The same finding, seen from the file's top."""
        return replace(self, location=(*parents, *self.location))


def warning(location: Location, message: str, hint: str | None = None) -> Finding:
    """A finding that keeps nobody from starting."""
    return Finding(location, message, hint, "warning")


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A finding with the place in the file that a person has to go to."""

    file: str
    """Or the environment variable or flag that has put its value in the file's place."""
    line: int
    """0 where it is no file."""
    column: int
    path: str
    message: str
    severity: Severity
    hint: str | None
    excerpt: str | None = None
    """The line of the file with a caret below it, where that helps; without values, which may be secret."""

    def __str__(self) -> str:
        """One line, whatever control characters the file's keys and names have."""
        path = f"{self.path}: " if self.path else ""
        hint = f" ({self.hint})" if self.hint else ""
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        line = f"{place}: {self.severity}: {path}{self.message}{hint}"
        return "".join(letter if letter.isprintable() else "?" for letter in line)

    def describe(self) -> str:
        """Return the line for a terminal, with the excerpt below it."""
        return f"{self}\n{indent(self.excerpt, '    ')}" if self.excerpt else str(self)


class CannotServe(Exception):
    """What the configuration names cannot be made, though no rule could tell; the finding says which and why."""

    def __init__(self, finding: Finding) -> None:
        """Take what whoever has the configuration makes a problem of."""
        super().__init__(finding.message)
        self.finding = finding


class ConfigError(Exception):
    """Every problem that keeps a configuration file from being used."""

    def __init__(self, problems: Iterable[Problem], files: FilesRead | None = None) -> None:
        """Take the files as well that were looked at: a change of one of them may mend it."""
        self.problems = tuple(problems)
        self.files = files or FilesRead()
        super().__init__("\n".join(str(problem) for problem in self.problems))
