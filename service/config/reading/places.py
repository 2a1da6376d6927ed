"""Where in the file a finding is, in a person's terms: line, column and a readable path."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from service.config.problem import Finding, Location, Problem
from service.config.reading.values import Value
from service.config.reading.yaml_tree import Mapping, Mark, Node, Scalar
from service.config.reading.yaml_tree import Sequence as YamlSequence

NAMING_KEYS = ("name", "client_id", "username", "sub", "acr", "handler")
"""What an entry of a list is called by, where it has one of these."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """A file that findings are about."""

    file: str
    root: Node
    values: Value

    def problem(self, finding: Finding) -> Problem:
        """The finding with its place."""
        mark = self._mark(finding.location, at_key=finding.at_key)
        return Problem(
            file=self.file,
            line=mark.line,
            column=mark.column,
            path=self._path(finding.location),
            message=finding.message,
            severity=finding.severity,
            hint=finding.hint,
        )

    def place(self, location: Location) -> str:
        """The place of a value as a person is told it in a sentence."""
        mark = self._mark(location, at_key=False)
        return f"{self.file}:{mark.line}:{mark.column}"

    def entries(self, location: Location) -> Sequence[Node]:
        """The entries of a list, as they are written."""
        node: Node | None = self.root
        for part in location:
            node = _below(node, part) if node is not None else None
        return node.items if isinstance(node, YamlSequence) else ()

    def _mark(self, location: Location, *, at_key: bool) -> Mark:
        """The place of the value, or of its key where the value spans lines or is not the matter."""
        node = self.root
        position = node.at
        for part in location:
            below = _below(node, part)
            if below is None:
                break
            key = node.keys.get(str(part)) if isinstance(node, Mapping) else None
            node = below
            spans_lines = isinstance(node, Mapping | YamlSequence)
            position = key if key and (at_key or spans_lines) else node.at
        return Mark.of(position)

    def _path(self, location: Location) -> str:
        path = ""
        value = self.values
        for part in location:
            if isinstance(value, list) and isinstance(part, str):
                path += f"[{part}]"
            elif isinstance(part, int):
                value = value[part] if isinstance(value, list) and part < len(value) else None
                path += f"[{_name_of(value) or part}]"
            else:
                value = value.get(part) if isinstance(value, dict) else None
                path += f".{part}" if path else part
        return path


def _below(node: Node, part: str | int) -> Node | None:
    """The part of a mapping or list; an item of a list goes by its position or by what it says."""
    if isinstance(node, Mapping):
        return node.values.get(str(part))
    if not isinstance(node, YamlSequence):
        return None
    if isinstance(part, int):
        return node.items[part] if part < len(node.items) else None
    same = (item for item in node.items if isinstance(item, Scalar) and item.text == part)
    return next(same, None)


def _name_of(value: Value) -> str | None:
    """What the entry of a list calls itself by."""
    if isinstance(value, dict):
        for key in NAMING_KEYS:
            name = value.get(key)
            if isinstance(name, str) and name:
                return name
    return None
