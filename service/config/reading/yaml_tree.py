"""The YAML text as a tree that knows the line and column of each of its parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from io import BytesIO
from typing import ClassVar, Protocol, cast

import yaml

from service.config.problem import Finding

MAX_DEPTH = 40
MAX_ALIASED_NODES = 100_000
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_CORE = "tag:yaml.org,2002:"
_AS_IT_LOOKS = frozenset(_CORE + name for name in ("null", "bool", "int", "float"))
"""The tags of scalars that say no more than that the text means what it looks like."""
_UNDERSTOOD = frozenset(
    {None, "!", *_AS_IT_LOOKS, *(_CORE + name for name in ("str", "seq", "map"))}
)
_HINT = (
    "a text that begins with ! needs quotes; ${NAME} is a variable, ${file:path} a file's content"
)


class Position(Protocol):
    """A place as the parser has it, counted from zero."""

    line: int
    column: int


At = Position | None
"""Where something stands; the parser always knows, but need not."""


@dataclass(frozen=True, slots=True)
class Mark:
    """A place in the file, counted from one."""

    line: int = 1
    column: int = 1

    @classmethod
    def of(cls, position: At) -> Mark:
        """The place that a person is told; made only then, because a large file has very many."""
        return cls() if position is None else cls(position.line + 1, position.column + 1)

    @classmethod
    def after(cls, text: str) -> Mark:
        """The place where a text ends."""
        return cls(text.count("\n") + 1, len(text) - text.rfind("\n"))


@dataclass(slots=True)
class Scalar:
    """A single value as it is written; `plain` when it stands without quotes."""

    at: At
    text: str
    plain: bool
    size: ClassVar[int] = 1


@dataclass(slots=True)
class Sequence:
    """A list."""

    at: At
    items: list[Node] = field(default_factory=list)
    size: int = 1


@dataclass(slots=True)
class Mapping:
    """Keys and values, each key with its own place."""

    at: At
    keys: dict[str, At] = field(default_factory=dict)
    values: dict[str, Node] = field(default_factory=dict)
    size: int = 1


Node = Scalar | Sequence | Mapping


class UnreadableYaml(Exception):
    """The text is not YAML that can be read on."""

    def __init__(
        self, message: str, mark: Mark, *, hint: str | None = None, excerpt: str | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.mark = mark
        self.hint = hint
        self.excerpt = excerpt
        """The line with a caret below it."""


class TreeBuilder:
    """Builds the tree from the parser's events, which no depth of nesting can overflow."""

    def __init__(self, text: str) -> None:
        self.findings: list[Finding] = []
        """Keys that stand twice."""
        self.tagged: list[Finding] = []
        """Values whose tag would have them read in some other way than it is done here."""
        self._next = cast("Callable[[], yaml.Event]", _LOADER(BytesIO(text.encode())).get_event)
        self._anchors: dict[str, Node] = {}
        self._aliased = 0
        self._location: list[str | int] = []
        """The keys and positions on the way to the node that is being built."""
        self.last_scalar: yaml.ScalarEvent | None = None
        """The scalar that was built last."""

    def build(self) -> Node:
        """The only document of the file."""
        root: Node = Mapping(None)
        documents = 0
        while not isinstance(event := self._next(), yaml.StreamEndEvent):
            if not isinstance(event, yaml.DocumentStartEvent):
                continue
            documents += 1
            if documents > 1:
                mark = Mark.of(event.start_mark)
                raise UnreadableYaml("the file holds more than one document", mark)
            root = self._node(self._next())
        return Mapping(root.at) if _is_nothing(root) else root

    def _node(self, event: yaml.Event) -> Node:
        at = event.start_mark
        if len(self._location) > MAX_DEPTH:
            raise UnreadableYaml(f"nested more than {MAX_DEPTH} levels deep", Mark.of(at))
        if isinstance(event, yaml.ScalarEvent):
            node: Node = Scalar(at, event.value, _is_plain(event))
            self.last_scalar = event
        elif isinstance(event, yaml.AliasEvent):
            return self._aliased_node(event)
        elif isinstance(event, yaml.SequenceStartEvent):
            node = self._sequence(at)
        else:
            node = self._mapping(at)
        if isinstance(event, yaml.NodeEvent) and event.anchor is not None:
            self._anchors[event.anchor] = node
        self._note_tag(event)
        return node

    def _aliased_node(self, event: yaml.AliasEvent) -> Node:
        node, mark = self._anchors.get(event.anchor or ""), Mark.of(event.start_mark)
        if node is None:
            raise UnreadableYaml(f"the alias *{event.anchor} has no anchor above it", mark)
        self._aliased += node.size
        if self._aliased > MAX_ALIASED_NODES:
            raise UnreadableYaml(
                f"the aliases stand for more than {MAX_ALIASED_NODES} values", mark
            )
        return node

    def _sequence(self, at: At) -> Sequence:
        sequence = Sequence(at)
        while not isinstance(event := self._next(), yaml.SequenceEndEvent):
            self._location.append(len(sequence.items))
            item = self._node(event)
            self._location.pop()
            sequence.items.append(item)
            sequence.size += item.size
        return sequence

    def _mapping(self, at: At) -> Mapping:
        mapping = Mapping(at)
        merged: list[Node] = []
        while not isinstance(event := self._next(), yaml.MappingEndEvent):
            if not isinstance(event, yaml.ScalarEvent):
                raise UnreadableYaml("a key must be a word", Mark.of(event.start_mark))
            key = event.value
            self._location.append(key)
            self._note_tag(event)
            value = self._node(self._next())
            if key == "<<" and _is_plain(event):
                merged.append(value)
            elif key in mapping.keys:
                self._note_duplicate(first=mapping.keys[key], second=event.start_mark)
                mapping.keys[key] = event.start_mark
            else:
                mapping.keys[key] = event.start_mark
                mapping.values[key] = value
            mapping.size += 1 + value.size
            self._location.pop()
        for node in merged:
            _merge(mapping, node)
        return mapping

    def _note_duplicate(self, *, first: At, second: At) -> None:
        location = tuple(self._location)
        lines = f"in line {Mark.of(first).line} and in line {Mark.of(second).line}"
        message = f"the key stands twice, {lines}"
        self.findings.append(Finding(location, message, "keep one", at_key=True))

    def _note_tag(self, event: yaml.Event) -> None:
        if not isinstance(event, yaml.ScalarEvent | yaml.CollectionStartEvent):
            return
        if event.tag not in _UNDERSTOOD:
            tag = str(event.tag).replace(_CORE, "!!")
            self.tagged.append(Finding(tuple(self._location), f"the tag {tag} is unknown", _HINT))


def _merge(mapping: Mapping, merged: Node) -> None:
    """Add what the mapping does not say itself (YAML merge key, `<<`)."""
    for source in merged.items if isinstance(merged, Sequence) else [merged]:
        if not isinstance(source, Mapping):
            raise UnreadableYaml("<< takes a mapping, or a list of them", Mark.of(source.at))
        for key in source.keys.keys() - mapping.keys.keys():
            mapping.keys[key] = source.keys[key]
            mapping.values[key] = source.values[key]


def _is_plain(event: yaml.ScalarEvent) -> bool:
    """Whether the scalar's own look decides what it is: no quotes, no `!!str`."""
    return bool(event.implicit[0]) or event.tag in _AS_IT_LOOKS


def _is_nothing(node: Node) -> bool:
    return isinstance(node, Scalar) and node.plain and not node.text
