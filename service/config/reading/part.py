"""One file of the configuration as far as it can be read: its values, and where each of them stands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from yaml import YAMLError

from service.config.problem import ConfigError, Finding, Location, Problem
from service.config.reading.files import FilesRead
from service.config.reading.interpolation import Interpolation
from service.config.reading.places import Places
from service.config.reading.values import Reader, Value
from service.config.reading.yaml_errors import explain_yaml_error
from service.config.reading.yaml_tree import Mark, TreeBuilder, UnreadableYaml


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """The main file, or one that it includes."""

    places: Places
    values: Value
    findings: Sequence[Finding]
    """What was found in reading it."""
    unresolved: frozenset[Location]
    """Where a reference or a tag stands for nothing, so that nothing else is to be said."""
    replaced: Mapping[Location, str]
    """The text behind each value that is one whole reference and does not look like text."""
    variables: frozenset[str]
    """The environment variables that it refers to."""


def read_part(path: Path, environ: Mapping[str, str], files: FilesRead) -> Part:
    """Read one file, noting it and those that it refers to; ConfigError where it is no YAML."""
    text = _text(path, files)
    builder = TreeBuilder(text)
    try:
        root = builder.build()
    except UnreadableYaml as error:
        raise ConfigError([_not_yaml(path, error)]) from error
    except YAMLError as error:
        unreadable = explain_yaml_error(error, text, builder.last_scalar)
        raise ConfigError([_not_yaml(path, unreadable)]) from error
    directory = path.absolute().parent
    interpolation = Interpolation(environ=environ, directory=directory, files=files)
    reader = Reader(interpolation)
    values = reader.read(root)
    unresolved = [*builder.tagged, *reader.findings]
    return Part(
        places=Places(file=str(path), root=root, values=values),
        values=values,
        findings=(*builder.findings, *unresolved),
        unresolved=frozenset(finding.location for finding in unresolved),
        replaced=reader.replaced,
        variables=frozenset(interpolation.variables),
    )


def _text(path: Path, files: FilesRead) -> str:
    files.note(path)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise ConfigError([_unreadable(path, reason, Mark())]) from error
    except UnicodeDecodeError as error:
        mark = Mark.after(error.object[: error.start].decode())
        raise ConfigError([_unreadable(path, "the file is not UTF-8 text", mark)]) from error
    except ValueError as error:
        raise ConfigError([_unreadable(path, "it is no path", Mark())]) from error


def _not_yaml(path: Path, error: UnreadableYaml) -> Problem:
    problem = _unreadable(path, error.message, error.mark)
    return replace(problem, hint=error.hint, excerpt=error.excerpt)


def _unreadable(path: Path, message: str, mark: Mark) -> Problem:
    return Problem(
        file=str(path),
        line=mark.line,
        column=mark.column,
        path="",
        message=message,
        severity="error",
        hint=None,
    )
