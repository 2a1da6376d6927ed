"""Reads the main file with the files that it includes and the environment, and finds the place of each value."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import yaml

from service.config.problem import ConfigError, Finding, Location, Problem
from service.config.reading.files import FilesRead
from service.config.reading.include import included_files
from service.config.reading.interpolation import Interpolation
from service.config.reading.values import Reader, Value, resolve
from service.config.reading.yaml_nodes import (
    PLAIN,
    find_below,
    own_entries,
    parse_file,
)
from service.config.schema.file import ConfigurationFile
from service.config.schema.findings import nearest

LISTS: tuple[tuple[str, ...], ...] = (
    ("api_resources",),
    ("api_scopes",),
    ("identity_resources",),
    ("clients",),
    ("extension_grants",),
    ("identity_providers",),
    ("tenants",),
    ("authentication_contexts",),
    ("users", "list"),
)
"""The lists of the registry, whose entries may be in several files."""
NAMING_KEYS = ("name", "client_id", "username", "sub", "acr", "handler")
"""The keys that an entry of a list may be called by."""
ENVIRONMENT: Mapping[str, tuple[str, str]] = {
    "SERVICE_HOST": ("server", "host"),
    "SERVICE_PORT": ("server", "port"),
    "SERVICE_WORKERS": ("server", "workers"),
    "SERVICE_STORE_URL": ("store", "url"),
}
"""Environment variables that take precedence over the file."""
KNOWN = (*ENVIRONMENT, "SERVICE_CONFIG", "SERVICE_LOG_LEVEL", "SERVICE_LOG_FORMAT")
_SECTIONS = tuple(location[0] for location in LISTS)


class Source:
    """All files as one: the lists of included files are put behind those of the main one."""

    def __init__(self, path: Path, environ: Mapping[str, str], files: FilesRead) -> None:
        """Read everything; raise ConfigError if a file is not YAML."""
        (self._root,) = _parse([path], files)
        interpolation = Interpolation(environ=environ, files=files)
        _, include = find_below(self._root, "include")
        names = Reader(interpolation).read(include, ("include",)) if include else None
        paths, self._findings = included_files(path, names, files)
        misplaced: list[Problem] = []
        for included in _parse(paths, files):
            misplaced += [_problem(included, None, each) for each in _find_misplaced(included)]
            for location in LISTS:
                _append(self._root, location, included)
        reader = Reader(interpolation)
        self.values = reader.read(self._root)
        self._overridden = _override(self.values, environ)
        self.unresolved = {finding.location for finding in reader.unresolved}
        """The places of references and tags that mean nothing, of which nothing else is to be said."""
        self.replaced = reader.replaced | {
            location: environ[name] for location, name in self._overridden.items()
        }
        """The text behind each value that came from outside as a whole and does not look like text."""
        self._findings += [*reader.duplicates, *reader.unresolved]
        self._problems = [*misplaced, *_find_unknown_variables(environ, interpolation.variables)]

    def problems(self, findings: Iterable[Finding]) -> tuple[Problem, ...]:
        """Return these and what was found in reading, each once, file by file and in the order of lines."""
        judged = (each for each in findings if each.location not in self.unresolved)
        problems = [self.problem(each) for each in (*self._findings, *judged)]
        return tuple(
            sorted(
                {*self._problems, *problems},
                key=lambda each: (each.file, each.line, each.column, str(each)),
            )
        )

    def problem(self, finding: Finding) -> Problem:
        """Return a finding with its place in its file, or with the variable that replaces the value."""
        if finding.first is not None:
            first = _place(self._root, finding.first)
            place = f"{first.name}:{first.line + 1}:{first.column + 1}"
            finding = replace(finding, message=f"{finding.message}, first at {place}")
        problem = _problem(self._root, self.values, finding)
        variable = self._overridden.get(finding.location)
        return problem if variable is None else replace(problem, file=variable, line=0, column=0)

    def entries(self) -> Iterator[object]:
        """Yield every entry of every list, as node and as value: these take up most memory."""
        for location in LISTS:
            node: yaml.Node | None = self._root
            values: Value = self.values
            for key in location:
                _, node = find_below(node, key)
                values = values.get(key) if isinstance(values, dict) else None
            yield from node.value if isinstance(node, yaml.SequenceNode) else ()
            yield from values if isinstance(values, list) else ()


def _parse(paths: Iterable[Path], files: FilesRead) -> list[yaml.Node]:
    """Parse each file; raise a ConfigError with all those that are not YAML."""
    roots: list[yaml.Node] = []
    problems: list[Problem] = []
    for path in paths:
        try:
            roots.append(parse_file(path, files))
        except ConfigError as error:
            problems += error.problems
    if problems:
        raise ConfigError(problems, files)
    return roots


def _append(root: yaml.Node, location: tuple[str, ...], included: yaml.Node) -> None:
    """Put the entries of an included list behind those of the root, unless that has another value there."""
    key, *below = location
    _, theirs = find_below(included, key)
    _, own = find_below(root, key)
    if theirs is None or not isinstance(root, yaml.MappingNode):
        return
    kind = yaml.MappingNode if below else yaml.SequenceNode
    if not isinstance(theirs, kind):
        return
    if own is None or (own.tag == PLAIN and resolve(own.value) is None):
        own = kind(theirs.tag, [], theirs.start_mark)
    elif isinstance(own, kind):
        own = kind(own.tag, [*own.value], own.start_mark)  # an alias may stand for it, too
    else:
        return
    key_node = next((each for each, _ in own_entries(root) if each.value == key), None)
    root.value = [entry for entry in root.value if entry[0].value != key]
    root.value.append((key_node or yaml.ScalarNode(PLAIN, key, theirs.start_mark), own))
    if below:
        _append(own, tuple(below), theirs)
    else:
        own.value += theirs.value


def _find_misplaced(root: yaml.Node) -> Iterator[Finding]:
    """Find what an included file holds besides lists of the registry."""
    if not isinstance(root, yaml.MappingNode):
        yield Finding((), "expected keys and values")
        return
    for node, value in own_entries(root):
        key = node.value
        if key == "include":
            message = "an included file includes no other"
            yield Finding((key,), message, "name it in the main file", at_key=True)
        elif key not in _SECTIONS:
            known = key in ConfigurationFile.model_fields
            message = "belongs into the main file only" if known else "unknown key"
            hint = nearest(key, _SECTIONS) or f"known keys here: {', '.join(_SECTIONS)}"
            yield Finding((key,), message, hint, at_key=True)
        elif key != "users" and not isinstance(value, yaml.SequenceNode):
            yield Finding((key,), "expected a list")
        elif key == "users" and not isinstance(value, yaml.MappingNode):
            yield Finding((key,), "expected keys and values")
        elif isinstance(value, yaml.MappingNode):
            yield from _find_misplaced_of_users(value)


def _find_misplaced_of_users(users: yaml.MappingNode) -> Iterator[Finding]:
    for node, value in own_entries(users):
        location = ("users", node.value)
        if node.value != "list":
            message, hint = "belongs into the main file only", "only users.list is possible here"
            yield Finding(location, message, hint, at_key=True)
        elif not isinstance(value, yaml.SequenceNode):
            yield Finding(location, "expected a list")


def _problem(root: yaml.Node, values: Value, finding: Finding) -> Problem:
    place = _place(root, finding.location, at_key=finding.at_key)
    return Problem(
        file=place.name,
        line=place.line + 1,
        column=place.column + 1,
        path=_path(root, values, finding.location),
        message=finding.message,
        severity=finding.severity,
        hint=finding.hint,
    )


def _place(root: yaml.Node, location: Location, *, at_key: bool = False) -> yaml.Mark:
    """Return the place of the value, or of its key if the key is wrong or the value has several lines."""
    node, place = root, root.start_mark
    for part in location:
        key, below = find_below(node, part)
        if below is None:
            break
        node = below
        is_key = key and (at_key or isinstance(node, yaml.CollectionNode))
        place = key.start_mark if key and is_key else node.start_mark
    return place


def _path(root: yaml.Node, values: Value, location: Location) -> str:
    """Return the keys with dots between them, and the entries of lists by their names."""
    path, node, value = "", root, values
    for part in location:
        listed, (_, below) = node, find_below(node, part)
        node = below or node
        is_entry, is_listed = isinstance(part, int), isinstance(value, list)
        value = _value_below(value, part)
        if is_entry:
            path += f"[{_name_of(value) or _count_before(listed, node)}]"
        elif is_listed:
            path += f"[{part}]"
        else:
            path += f".{part}" if path else str(part)
    return path


def _value_below(value: Value, part: str | int) -> Value:
    if isinstance(part, str):
        return value.get(part) if isinstance(value, dict) else None
    return value[part] if isinstance(value, list) and part < len(value) else None


def _count_before(listed: yaml.Node, node: yaml.Node) -> int:
    """Return how many entries of the same file are before a node of a list."""
    same = (each is node for each in listed.value if each.start_mark.name == node.start_mark.name)
    return next((at for at, is_found in enumerate(same) if is_found), 0)


def _name_of(value: Value) -> str | None:
    """Return the name of an entry of a list, if it has one."""
    names = (value.get(key) for key in NAMING_KEYS) if isinstance(value, dict) else ()
    return next((name for name in names if isinstance(name, str) and name), None)


def _override(values: Value, environ: Mapping[str, str]) -> dict[Location, str]:
    """Put the environment's settings in place of the file's, and return the variable of each."""
    overridden: dict[Location, str] = {}
    for variable, (section, key) in ENVIRONMENT.items():
        text = environ.get(variable)
        if not text or not isinstance(values, dict):
            continue
        settings = values.setdefault(section, {})
        if isinstance(settings, dict):
            settings[key] = resolve(text)
            overridden[section, key] = variable
    return overridden


def _find_unknown_variables(environ: Mapping[str, str], referred: set[str]) -> Iterator[Problem]:
    """Warn of variables SERVICE_… that neither the service nor a `${NAME}` of the file reads."""
    for name in environ:
        if name.startswith("SERVICE_") and name not in KNOWN and name not in referred:
            yield Problem(
                file=name,
                line=0,
                column=0,
                path="",
                message="this environment variable is unknown and has no effect",
                severity="warning",
                hint=nearest(name, KNOWN) or f"known: {', '.join(KNOWN)}",
            )
