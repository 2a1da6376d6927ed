"""Reads the main file with the files that it includes and the environment, and finds the place of each value."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Iterator, Mapping
from glob import glob, has_magic
from pathlib import Path

import yaml
from msgspec.structs import replace

from service.config.problem import ConfigError, Finding, Location, Problem, nearest, warning
from service.config.reading.files import FilesRead
from service.config.reading.values import ANCHORS, Reader, Value, resolve
from service.config.reading.yaml_nodes import PLAIN, find_below, own_entries, parse_file
from service.config.schema.file import ConfigurationFile
from service.config.schema.findings import explain_unknown_key
from service.model.registry import EntryLines

LISTS: Mapping[tuple[str, ...], tuple[str, ...]] = {
    ("api_resources",): ("name",),
    ("api_scopes",): ("name",),
    ("identity_resources",): ("name",),
    ("clients",): ("client_id",),
    ("extension_grants",): (),
    ("token_exchange",): (),
    ("trust_domains",): ("name",),
    ("identity_providers",): ("name",),
    ("trusted_issuers",): ("name",),
    ("workload_issuers",): ("name",),
    ("tenants",): ("name",),
    ("authentication_contexts",): ("acr",),
    ("authorization_details_types",): ("type",),
    ("users", "list"): ("sub", "username"),
}
"""The lists of the registry, whose entries may be in several files, and the keys that tell their entries apart."""
NAMING_KEYS = ("name", "client_id", "username", "sub", "acr", "handler", "type")
"""The keys that an entry of a list may be called by."""
ENVIRONMENT: Mapping[str, tuple[str, str]] = {
    "SERVICE_HOST": ("server", "host"),
    "SERVICE_PORT": ("server", "port"),
    "SERVICE_WORKERS": ("server", "workers"),
    "SERVICE_STORE_URL": ("store", "url"),
}
"""Environment variables that take precedence over the file."""
KNOWN = (*ENVIRONMENT, "SERVICE_CONFIG", "SERVICE_LOG_LEVEL", "SERVICE_LOG_FORMAT")
_ENDINGS = (".yaml", ".yml")
_SECTIONS = tuple(location[0] for location in LISTS)


class Source:
    """All files as one: the lists of included files are put behind those of the main one."""

    def __init__(self, path: Path, environ: Mapping[str, str], files: FilesRead) -> None:
        """Read everything; raise ConfigError if a file is not YAML."""
        (self._root,) = _parse([path], files)
        reader = Reader(environ, files)
        _, include = find_below(self._root, "include")
        listed = reader.read(include, ("include",)) if include else None
        found = [*_find_included(path, listed, files)]
        paths = dict.fromkeys(each for each in found if isinstance(each, Path))
        others = [each for each in paths if each.absolute() != path.absolute()]
        self._problems: list[Problem] = []
        for included in _parse(others, files):
            self._problems += [
                problem_at(included, None, each) for each in _find_misplaced(included)
            ]
            for location in LISTS:
                _append(self._root, location, included)
        self.values = reader.read(self._root)
        self._overridden = _override(self.values, environ)
        self._unresolved = reader.unresolved
        self.replaced: Mapping[Location, Value] = reader.replaced | {
            location: environ[name] for location, name in self._overridden.items()
        }
        """Other meanings of a value that came from outside as a whole."""
        self._findings = [each for each in found if isinstance(each, Finding)] + reader.findings
        self._problems += _find_unknown_variables(environ, reader.variables)

    def problems(self, findings: Iterable[Finding]) -> tuple[Problem, ...]:
        """Return these and what was found in reading, each once, file by file and in the order of lines."""
        judged = (each for each in findings if each.location not in self._unresolved)
        problems = {*self._problems, *map(self.problem, (*self._findings, *judged))}
        in_order = sorted(problems, key=lambda each: (each.file, each.line, each.column, str(each)))
        return tuple(in_order)

    def problem(self, finding: Finding) -> Problem:
        """Return a finding with its place in its file, or with the variable that replaces the value."""
        if finding.first is not None:
            first = self.problem(Finding(finding.first, ""))
            place = f"{first.file}:{first.line}:{first.column}"
            finding = self._name_first(finding, first, place)
        problem = problem_at(self._root, self.values, finding)
        variable = self._overridden.get(finding.location)
        return problem if variable is None else replace(problem, file=variable, line=0, column=0)

    def _name_first(self, finding: Finding, first: Problem, place: str) -> Finding:
        """Return a finding on what stands twice with the first place; the same place is one that `<<` has brought."""
        here = problem_at(self._root, self.values, finding)
        if (here.file, here.line, here.column) != (first.file, first.line, first.column):
            return replace(finding, message=f"{finding.message}, first at {place}")
        *entry, key = finding.location
        message = f"has no {key} of its own: << brings that of {place}"
        return Finding(tuple(entry), message, f"give the entry a {key}")

    def find_line(self, location: Location) -> str:
        """Return file and line of a mapping or a list."""
        place = self.problem(Finding(location, ""))
        return f"{place.file}:{place.line}"

    def find_lines(self, section: str) -> EntryLines:
        """Return files and lines of all entries of a list."""
        _, listed = find_below(self._root, section)
        entries: list[yaml.Node] = listed.value if isinstance(listed, yaml.SequenceNode) else []
        names = [str(entry.start_mark.name) for entry in entries]
        files = [(at, name) for at, name in enumerate(names) if at == 0 or name != names[at - 1]]
        lines = [int(entry.start_mark.line) + 1 for entry in entries]
        return EntryLines(tuple(files), array("I", lines))


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


def _find_included(main: Path, listed: Value, files: FilesRead) -> Iterator[Path | Finding]:
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


def _append(root: yaml.Node, location: tuple[str, ...], included: yaml.Node) -> None:
    """Put the entries of an included list behind those of the root, unless that has another value there."""
    key, *below = location
    kind = yaml.MappingNode if below else yaml.SequenceNode
    (key_node, own), (_, theirs) = find_below(root, key), find_below(included, key)
    if not isinstance(theirs, kind) or not isinstance(root, yaml.MappingNode):
        return
    if own is None or (own.tag == PLAIN and resolve(own.value) is None):
        own = kind(theirs.tag, [], theirs.start_mark)
    elif isinstance(own, kind):
        own = kind(own.tag, [*own.value], own.start_mark)  # an alias may stand for it, too
    else:
        return
    root.value = [entry for entry in root.value if entry[0].value != key]
    root.value.append((key_node or yaml.ScalarNode(PLAIN, key, theirs.start_mark), own))
    if below:
        _append(own, tuple(below), theirs)
    else:
        own.value += theirs.value


def _find_misplaced(root: yaml.Node, section: tuple[str, ...] = ()) -> Iterator[Finding]:
    """Find what an included file holds besides lists of the registry."""
    if not isinstance(root, yaml.MappingNode):
        hint = f"write {section[0]}: {{list: […]}}" if section else None
        yield Finding(section, "expected keys and values", hint)
        return
    for key, value in own_entries(root):
        location = (*section, key.value)
        if not section and key.value.startswith(ANCHORS):
            continue
        if location == ("users",):
            yield from _find_misplaced(value, location)
        elif location not in LISTS:
            yield Finding(location, *_explain_misplaced(location), at_key=True)
        elif not isinstance(value, yaml.SequenceNode):
            yield Finding(location, "expected a list")


def _explain_misplaced(location: tuple[str, ...]) -> tuple[str, str]:
    section, *below = location
    if below:
        return "belongs into the main file only", "only users.list is possible here"
    if section == "include":
        return "an included file includes no other", "name it in the main file"
    known = section in ConfigurationFile.__struct_fields__
    hint = explain_unknown_key(location, _SECTIONS)
    return "belongs into the main file only" if known else "unknown key", hint


def problem_at(root: yaml.Node, values: Value, finding: Finding) -> Problem:
    """Return the problem with its place, the keys that lead to it, and entries of lists by their names.

    The place is that of the value, or of the key if that is wrong or the value has several lines.
    """
    place, path = root.start_mark, ""
    node: yaml.Node | None = root
    for part in finding.location:
        parent, (key, node) = node, find_below(node, part)
        if node is not None:
            at_key = key and (finding.at_key or isinstance(node, yaml.CollectionNode))
            place = key.start_mark if key and at_key else node.start_mark
        within, values = values, _value_below(values, part)
        if isinstance(part, int):
            path += f"[{_name_of(values) or _count_before(parent, node, part)}]"
        elif isinstance(within, list):
            path += f"[{part}]"
        else:
            path += f".{part}" if path else part
    return Problem(
        file=place.name,
        line=place.line + 1,
        column=place.column + 1,
        path=path,
        message=finding.message,
        severity=finding.severity,
        hint=finding.hint,
    )


def _value_below(value: Value, part: str | int) -> Value:
    if isinstance(part, str):
        return value.get(part) if isinstance(value, dict) else None
    return value[part] if isinstance(value, list) and part < len(value) else None


def _name_of(value: Value) -> str | None:
    names = (value.get(key) for key in NAMING_KEYS) if isinstance(value, dict) else ()
    return next((name for name in names if isinstance(name, str) and name), None)


def _count_before(listed: yaml.Node | None, node: yaml.Node | None, at: int) -> int:
    """Return how many entries of the same file are before a node of a list; a default has no node."""
    if node is None or not isinstance(listed, yaml.SequenceNode):
        return at
    file = node.start_mark.name
    return [each for each in listed.value if each.start_mark.name == file].index(node)


def _override(values: Value, environ: Mapping[str, str]) -> dict[Location, str]:
    """Put the environment's settings in place of the file's, and return the variable of each."""
    overridden: dict[Location, str] = {}
    for variable, (section, key) in ENVIRONMENT.items():
        text = environ.get(variable)
        settings = values.setdefault(section, {}) if text and isinstance(values, dict) else None
        if text and isinstance(settings, dict):
            settings[key] = resolve(text)
            overridden[section, key] = variable
    return overridden


def _find_unknown_variables(environ: Mapping[str, str], referred: set[str]) -> Iterator[Problem]:
    """Warn of variables SERVICE_… that neither the service nor a `${NAME}` of the file reads."""
    for name in environ:
        if name.startswith("SERVICE_") and name not in KNOWN and name not in referred:
            hint = nearest(name, KNOWN) or f"known: {', '.join(KNOWN)}"
            message = "this environment variable is unknown and has no effect"
            yield Problem(file=name, message=message, severity="warning", hint=hint)
