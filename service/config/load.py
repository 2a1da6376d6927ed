"""How the bytes of config.yaml become a checked configuration, or every problem at once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from service.config.collector import collector_paused
from service.config.configuration import NEEDS_RESTART, Configuration
from service.config.interpolation import Interpolation
from service.config.judge import judge
from service.config.places import Places
from service.config.problem import ConfigError, Finding, Location, Problem
from service.config.registry import build_registry
from service.config.rules.rule import FileRule
from service.config.schema.file import ConfigurationFile
from service.config.values import Reader, Value, resolve
from service.config.yaml_tree import Mark, TreeBuilder, UnreadableYaml

ENVIRONMENT: Mapping[str, tuple[str, str]] = {
    "SERVICE_HOST": ("server", "host"),
    "SERVICE_PORT": ("server", "port"),
    "SERVICE_WORKERS": ("server", "workers"),
    "SERVICE_STORE_URL": ("store", "url"),
}
"""Environment variables that beat the file."""
_QUOTES = "inside of [ ] and { }, ${…} needs quotes"


@collector_paused()
def load(path: Path, environ: Mapping[str, str]) -> Configuration:
    """Read a configuration file; a ConfigError carries all that is wrong with it."""
    places, file, findings = _read(path, environ)
    problems = _problems(places, findings)
    if file is None or any(problem.severity == "error" for problem in problems):
        raise ConfigError(problems)
    return Configuration(
        file=path,
        registry=build_registry(file, generation=_generation(places.values)),
        warnings=problems,
        **{name: getattr(file, name) for name in NEEDS_RESTART},
    )


def inspect(
    path: Path, environ: Mapping[str, str], *, rules: Iterable[FileRule] = ()
) -> tuple[Problem, ...]:
    """All that is to be said of a configuration file, under further rules too."""
    try:
        places, file, findings = _read(path, environ)
    except ConfigError as error:
        return error.problems
    further = [] if file is None else [finding for rule in rules for finding in rule(file)]
    return _problems(places, [*findings, *further])


def _read(
    path: Path, environ: Mapping[str, str]
) -> tuple[Places, ConfigurationFile | None, list[Finding]]:
    """The file as far as it can be understood, and all that was found in it."""
    text = _text(path)
    builder = TreeBuilder(text)
    try:
        root = builder.build()
    except UnreadableYaml as error:
        line = "".join(text.split("\n")[error.mark.line - 1 : error.mark.line])
        hint = _QUOTES if "${" in line else None
        raise ConfigError([_unreadable(path, error.message, error.mark, hint)]) from error
    directory = path.absolute().parent
    reader = Reader(Interpolation(environ=environ, directory=directory))
    values = reader.read(root)
    replaced = reader.replaced | _override(values, environ)
    file, findings = judge(values, replaced=replaced, directory=directory)
    unresolved = {finding.location for finding in reader.findings}
    judged = (finding for finding in findings if finding.location not in unresolved)
    places = Places(file=str(path), root=root, values=values)
    return places, file, [*builder.duplicates, *reader.findings, *judged]


def _text(path: Path) -> str:
    try:
        return path.read_bytes().decode("utf-8-sig")
    except OSError as error:
        reason = error.strerror or "it cannot be read"
        raise ConfigError([_unreadable(path, f"{reason}", Mark())]) from error
    except ValueError as error:
        raise ConfigError([_unreadable(path, "the file is not UTF-8 text", Mark())]) from error


def _unreadable(path: Path, message: str, mark: Mark, hint: str | None = None) -> Problem:
    return Problem(
        file=str(path),
        line=mark.line,
        column=mark.column,
        path="",
        message=message,
        severity="error",
        hint=hint,
    )


def _override(values: Value, environ: Mapping[str, str]) -> dict[Location, str]:
    """Put the environment's settings in the file's place."""
    replaced: dict[Location, str] = {}
    for variable, (section, key) in ENVIRONMENT.items():
        text = environ.get(variable)
        if not text or not isinstance(values, dict):
            continue
        settings = values.setdefault(section, {})
        if isinstance(settings, dict):
            settings[key] = resolve(text)
            replaced[section, key] = text
    return replaced


def _problems(places: Places, findings: Iterable[Finding]) -> tuple[Problem, ...]:
    """The findings with their places, in the file's order."""
    problems = {places.problem(finding) for finding in findings}
    return tuple(sorted(problems, key=lambda problem: (problem.line, problem.column, str(problem))))


def _generation(values: Value) -> str:
    """A short hash of the registry's part of the file, the same in every replica that reads the same."""
    content = {
        key: value
        for key, value in (values.items() if isinstance(values, dict) else ())
        if key not in NEEDS_RESTART
    }
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
