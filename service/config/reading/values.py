"""Turns YAML nodes into plain values; replaces `${NAME}`, `${NAME:-default}`, `${file:path}` and `$${`."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

import yaml

from service.config.problem import Finding, Location
from service.config.reading import yaml_nodes
from service.config.reading.files import FilesRead
from service.config.reading.yaml_nodes import CORE, PLAIN

Value = bool | int | float | str | list["Value"] | dict[str, "Value"] | None

MAX_ALIASED_VALUES = 100_000
ANCHORS = "x-"
"""How keys of the whole file begin that mean nothing: a place for anchors, as Compose has it."""
ANY_PORT = ("SERVICE_PORT", "0")
"""Lets the system choose a port to listen on; it is no part of a URL."""
_AS_IT_LOOKS = frozenset({PLAIN, *(CORE + name for name in ("null", "bool", "int", "float"))})
"""The tags of scalars that mean what they look like."""
_KNOWN_TAGS = _AS_IT_LOOKS | {CORE + "str", CORE + "seq", CORE + "map"}
_TAG_HINT = (
    "a text that begins with ! needs quotes; ${NAME} is a variable, ${file:path} a file's content"
)
_WORDS: dict[str, bool | None] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_NUMERIC = frozenset("-+.0123456789")
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_FLOAT = re.compile(r"[-+]?(\.[0-9]+|[0-9]+\.[0-9]*|[0-9]+(?=[eE]))([eE][-+]?[0-9]{1,3})?")
_REFERENCE = re.compile(r"(?P<plain>\$\$\{)|\$\{(?P<inside>(?:\$\{[^{}]*\}|[^}])*)(?P<closed>\}?)")
"""One in the path of a file, or in a default, may hold others."""
_NAME = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)(?::-(?P<default>.*))?", re.DOTALL)
_FILE = "file:"
_MAX_FILE_BYTES = 1_048_576


def resolve(text: str) -> bool | int | float | str | None:
    """Return what an unquoted scalar means; unlike YAML 1.1, `no` is text and so is `22:30` (YAML 1.2 §10.3)."""
    if text in _WORDS:
        return _WORDS[text]
    if text[0] not in _NUMERIC:
        return text
    if _INT.fullmatch(text):
        return int(text)
    if _FLOAT.fullmatch(text) and math.isfinite(number := float(text)):
        return number
    return text


class _Unresolved(Exception):
    """A reference that means nothing; the arguments are the message and the hint."""


class Reader:
    """Reads nodes, and notes what is wrong with them and what came from outside of the file."""

    def __init__(self, environ: Mapping[str, str], files: FilesRead) -> None:
        """Take the values of variables, and note in `files` every file that is referred to."""
        self.findings: list[Finding] = []
        self.unresolved: set[Location] = set()
        """The places of references and tags that mean nothing, of which nothing else is to be said."""
        self.replaced: dict[Location, Value] = {}
        """Other meanings of each value that is one whole reference: of a number the text that it was, of a quoted text a number."""
        self.variables: set[str] = set()
        """The names of all environment variables that are referred to."""
        self._environ = environ
        self._files = files
        self._sizes: dict[int, int | None] = {}
        """How many values each list and mapping holds; None while it is being read."""
        self._values = self._aliased = 0

    def read(self, node: yaml.Node, location: Location = ()) -> Value:
        """Return the value of a node and of all below it."""
        self._values += 1
        self._note_tag(node, location)
        if isinstance(node, yaml.ScalarNode):
            if "${" in node.value:
                return self._replace(node, location)
            return resolve(node.value) if node.tag in _AS_IT_LOOKS else node.value
        self._count_alias(node)
        before, self._sizes[id(node)] = self._values, None
        value: Value
        if isinstance(node, yaml.MappingNode):
            value = self._read_mapping(node, location)
        else:
            value = [self.read(item, (*location, at)) for at, item in enumerate(node.value)]
        self._sizes[id(node)] = self._values - before + 1
        return value

    def _count_alias(self, node: yaml.Node) -> None:
        size = self._sizes.get(id(node), 0)
        if size is None:
            message = "an alias in this value stands for the value"
            raise yaml_nodes.unreadable(message, node.start_mark)
        self._aliased += size
        if self._aliased > MAX_ALIASED_VALUES:
            message = f"the aliases stand for more than {MAX_ALIASED_VALUES} values"
            raise yaml_nodes.unreadable(message, node.start_mark)

    def _read_mapping(self, node: yaml.MappingNode, location: Location) -> dict[str, Value]:
        values: dict[str, Value] = {}
        lines: dict[str, int] = {}
        for key, value in yaml_nodes.own_entries(node):
            at, line = (*location, key.value), key.start_mark.line + 1
            if not location and key.value.startswith(ANCHORS):
                continue
            self._note_tag(key, at)
            if odd := yaml_nodes.find_lookalike(key, value):
                self.unresolved.add(at)
                self.findings.append(Finding(at, *odd, at_key=True))
                values[key.value] = None
            elif key.value in values:
                message = f"the key stands twice, in line {lines[key.value]} and in line {line}"
                self.findings.append(Finding(at, message, "keep one", at_key=True))
            else:
                values[key.value] = self.read(value, at)
            lines[key.value] = line
        for source in yaml_nodes.merged_mappings(node):
            self._count_alias(source)
            for key, value in yaml_nodes.own_entries(source):
                if key.value not in values:
                    values[key.value] = self.read(value, (*location, key.value))
        return values

    def _note_tag(self, node: yaml.Node, location: Location) -> None:
        if node.tag not in _KNOWN_TAGS:
            tag = node.tag.replace(CORE, "!!")
            self._note_unresolved(location, f"the tag {tag} is unknown", _TAG_HINT)

    def _note_unresolved(self, location: Location, message: str, hint: str) -> None:
        self.unresolved.add(location)
        self.findings.append(Finding(location, message, hint))

    def _replace(self, node: yaml.ScalarNode, location: Location) -> Value:
        """Return a value with every reference replaced; what is put in is not replaced again."""
        try:
            text = _REFERENCE.sub(lambda each: self._look_up(each, node), node.value)
        except _Unresolved as error:
            self._note_unresolved(location, *error.args)
            return ""
        whole, value = _REFERENCE.fullmatch(node.value), resolve(text)
        if whole is None or whole["plain"] or isinstance(value, str):
            return text
        if node.tag in _AS_IT_LOOKS:
            self.replaced[location] = text
            return value
        if node.style is not None:  # within braces it has to be quoted
            self.replaced[location] = value
        return text

    def _look_up(self, reference: re.Match[str], node: yaml.Node) -> str:
        inside = reference["inside"]
        if reference["plain"]:
            return "${"
        if not reference["closed"]:
            raise _Unresolved("${ is not closed by }", "write $${ for a plain ${")
        outer = inside.partition("${")[0]
        if outer != inside and (outer.startswith(_FILE) or ":-" in outer):
            inside = _REFERENCE.sub(lambda each: self._look_up(each, node), inside)
        if outer.startswith(_FILE):
            directory = Path(node.start_mark.name).absolute().parent
            return self._content(inside.removeprefix(_FILE), directory)
        return self._value_of(inside)

    def _value_of(self, inside: str) -> str:
        """Return the value of a variable, or the default behind its name."""
        variable = _NAME.fullmatch(inside)
        if variable is None:
            raise _Unresolved(f"${{{inside}}} names no variable", "write $${ for a plain ${")
        name, default = variable["name"], variable["default"]
        self.variables.add(name)
        value = self._environ.get(name)
        if (name, value) == ANY_PORT:
            value = None
        if default is not None:
            return value or default
        if value is None:
            hint = f"set it, or give a default: ${{{name}:-…}}"
            raise _Unresolved(f"the environment variable {name} is not set", hint)
        return value

    def _content(self, name: str, directory: Path) -> str:
        path = directory / name
        try:
            self._files.note(path)
            if path.exists() and not path.is_file():
                raise ValueError  # noqa: TRY301 - explained like a file that is not text
            with path.open("rb") as file:
                content = file.read(_MAX_FILE_BYTES).decode("utf-8-sig")
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or "it is not a text file"
            hint = f"a relative path begins at {directory}"
            raise _Unresolved(f"the file {name} cannot be read: {reason}", hint) from error
        return content.removesuffix("\n").removesuffix("\r")
