"""The YAML text as a tree that knows the line and column of each of its parts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol

import yaml

from service.config.problem import Finding, Location

MAX_DEPTH = 40
MAX_ALIASED_NODES = 100_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class Position(Protocol):
    """What the parser calls a mark, counted from zero."""

    line: int
    column: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the file, counted from one."""

    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Scalar:
    """A single value as it is written; `plain` when it stands without quotes."""

    mark: Mark
    text: str
    plain: bool
    size: int = 1


@dataclass(slots=True, kw_only=True)
class Sequence:
    """A list."""

    mark: Mark
    items: list[Node] = field(default_factory=list)
    size: int = 1


@dataclass(slots=True, kw_only=True)
class Mapping:
    """Keys and values, each key with its own place."""

    mark: Mark
    keys: dict[str, Mark] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)
    size: int = 1


Node = Scalar | Sequence | Mapping


class UnreadableYaml(Exception):
    """The text is not YAML that can be read on."""

    def __init__(self, message: str, mark: Mark) -> None:
        super().__init__(message)
        self.message = message
        self.mark = mark


class TreeBuilder:
    """Builds the tree from the parser's events, which no depth of nesting can overflow."""

    def __init__(self, text: str) -> None:
        self.duplicates: list[Finding] = []
        self._events: Iterator[yaml.Event] = yaml.parse(text, Loader=_LOADER)
        self._anchors: dict[str, Node] = {}
        self._aliased = 0

    def build(self) -> Node:
        """The only document of the file."""
        try:
            return self._document()
        except yaml.MarkedYAMLError as error:
            raise UnreadableYaml(error.problem or "not YAML", _mark(error.problem_mark)) from error
        except yaml.YAMLError as error:
            raise UnreadableYaml(
                "the file has characters that YAML does not allow", Mark()
            ) from error

    def _document(self) -> Node:
        root: Node = Mapping(mark=Mark())
        documents = 0
        for event in self._events:
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            documents += 1
            if documents > 1:
                raise UnreadableYaml(
                    "the file holds more than one document", _mark(event.start_mark)
                )
            root = self._node(next(self._events), ())
        return Mapping(mark=root.mark) if _is_nothing(root) else root

    def _node(self, event: yaml.Event, location: Location) -> Node:
        mark = _mark(event.start_mark)
        if len(location) > MAX_DEPTH:
            raise UnreadableYaml(f"nested more than {MAX_DEPTH} levels deep", mark)
        if isinstance(event, yaml.AliasEvent):
            return self._aliased_node(event, mark)
        if isinstance(event, yaml.ScalarEvent):
            node: Node = Scalar(mark=mark, text=event.value, plain=_is_plain(event))
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(mark, location)
        else:
            node = self._mapping(mark, location)
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._anchors[event.anchor] = node
        return node

    def _aliased_node(self, event: yaml.AliasEvent, mark: Mark) -> Node:
        node = self._anchors.get(event.anchor or "")
        if node is None:
            raise UnreadableYaml(f"the alias *{event.anchor} has no anchor above it", mark)
        self._aliased += node.size
        if self._aliased > MAX_ALIASED_NODES:
            raise UnreadableYaml(
                f"the aliases stand for more than {MAX_ALIASED_NODES} values", mark
            )
        return node

    def _sequence(self, mark: Mark, location: Location) -> Sequence:
        sequence = Sequence(mark=mark)
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            item = self._node(event, (*location, len(sequence.items)))
            sequence.items.append(item)
            sequence.size += item.size
        return sequence

    def _mapping(self, mark: Mark, location: Location) -> Mapping:
        mapping = Mapping(mark=mark)
        merged: list[Node] = []
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._key(event)
            value = self._node(next(self._events), (*location, key.text))
            mapping.size += 1 + value.size
            if key.text == "<<" and key.plain:
                merged.append(value)
            elif key.text in mapping.keys:
                self._note_duplicate(location, key, first=mapping.keys[key.text])
                mapping.keys[key.text] = key.mark
            else:
                mapping.keys[key.text] = key.mark
                mapping.values[key.text] = value
        for node in merged:
            _merge(mapping, node)
        return mapping

    def _key(self, event: yaml.Event) -> Scalar:
        if isinstance(event, yaml.ScalarEvent):
            return Scalar(mark=_mark(event.start_mark), text=event.value, plain=_is_plain(event))
        raise UnreadableYaml("a key must be a word", _mark(event.start_mark))

    def _note_duplicate(self, location: Location, key: Scalar, *, first: Mark) -> None:
        message = f"the key stands twice, in line {first.line} and in line {key.mark.line}"
        self.duplicates.append(Finding((*location, key.text), message, "keep one", at_key=True))


def _merge(mapping: Mapping, merged: Node) -> None:
    """Add what the mapping does not say itself (YAML merge key, `<<`)."""
    for source in merged.items if isinstance(merged, Sequence) else [merged]:
        if not isinstance(source, Mapping):
            raise UnreadableYaml("<< takes a mapping, or a list of them", source.mark)
        for key in source.keys.keys() - mapping.keys.keys():
            mapping.keys[key] = source.keys[key]
            mapping.values[key] = source.values[key]


def _is_plain(event: yaml.ScalarEvent) -> bool:
    """Whether the scalar's own look decides what it is: no quotes, no `!!str`."""
    return bool(event.implicit[0])


def _is_nothing(node: Node) -> bool:
    return isinstance(node, Scalar) and node.plain and not node.text


def _mark(mark: Position | None) -> Mark:
    return Mark() if mark is None else Mark(mark.line + 1, mark.column + 1)
