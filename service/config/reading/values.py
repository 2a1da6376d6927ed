"""Turns YAML nodes into plain values, with their references replaced."""

from __future__ import annotations

import math
import re
from pathlib import Path

import yaml

from service.config.problem import Finding, Location
from service.config.reading.interpolation import Interpolation, Unresolved, is_one_reference
from service.config.reading.yaml_nodes import (
    CORE,
    PLAIN,
    merged_mappings,
    own_entries,
    unreadable,
)

Value = bool | int | float | str | list["Value"] | dict[str, "Value"] | None

MAX_ALIASED_VALUES = 100_000
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


class Reader:
    """Reads nodes, and notes what is wrong with them and what came from outside of the file."""

    def __init__(self, interpolation: Interpolation) -> None:
        self.duplicates: list[Finding] = []
        self.unresolved: list[Finding] = []
        """References and tags that mean nothing, so that nothing else is to be said of the place."""
        self.replaced: dict[Location, str] = {}
        """The text behind each value that is one whole reference and does not look like text."""
        self._interpolation = interpolation
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
            raise unreadable("an alias in this value stands for the value", node.start_mark)
        self._aliased += size
        if self._aliased > MAX_ALIASED_VALUES:
            message = f"the aliases stand for more than {MAX_ALIASED_VALUES} values"
            raise unreadable(message, node.start_mark)

    def _read_mapping(self, node: yaml.MappingNode, location: Location) -> dict[str, Value]:
        values: dict[str, Value] = {}
        lines: dict[str, int] = {}
        for key, value in own_entries(node):
            at, line = (*location, key.value), key.start_mark.line + 1
            self._note_tag(key, at)
            if key.value in values:
                message = f"the key stands twice, in line {lines[key.value]} and in line {line}"
                self.duplicates.append(Finding(at, message, "keep one", at_key=True))
            else:
                values[key.value] = self.read(value, at)
            lines[key.value] = line
        for source in merged_mappings(node):
            self._count_alias(source)
            for key, value in own_entries(source):
                if key.value not in values:
                    values[key.value] = self.read(value, (*location, key.value))
        return values

    def _note_tag(self, node: yaml.Node, location: Location) -> None:
        if node.tag not in _KNOWN_TAGS:
            tag = node.tag.replace(CORE, "!!")
            self.unresolved.append(Finding(location, f"the tag {tag} is unknown", _TAG_HINT))

    def _replace(self, node: yaml.ScalarNode, location: Location) -> Value:
        try:
            text = self._interpolation.replace(node.value, Path(node.start_mark.name))
        except Unresolved as error:
            self.unresolved.append(Finding(location, error.message, error.hint))
            return ""
        if node.tag not in _AS_IT_LOOKS or not is_one_reference(node.value):
            return text
        value = resolve(text)
        if not isinstance(value, str):
            self.replaced[location] = text
        return value
