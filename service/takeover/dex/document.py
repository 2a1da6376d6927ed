"""Reads dex's config.yaml: the first of its documents, with what it takes from the environment."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import yaml

from service.takeover.node import Misplaced, place_below
from service.takeover.reading import opened, unreadable

if TYPE_CHECKING:
    from yaml import BaseLoader as _Loader
else:
    _Loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

MAX_BYTES = 64 << 20
MAX_DEPTH = 64
MAX_VALUES = 2_000_000
"""For 100,000 users with twenty values each."""
_WORDS: Mapping[str, bool | None] = {
    **dict.fromkeys(
        ("true", "True", "TRUE", "yes", "Yes", "YES", "on", "On", "ON", "y", "Y"), True
    ),
    **dict.fromkeys(("false", "False", "FALSE", "no", "No", "NO", "off", "Off", "OFF"), False),
    **dict.fromkeys(("n", "N"), False),
    **dict.fromkeys(("~", "null", "Null", "NULL", "")),
}
"""Scalars without quotes that are no text."""
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|([*#$@!?0-9-])|([A-Za-z_][A-Za-z0-9_]*))")
"""The references that os.Expand of Go replaces; a dollar sign before anything else stays as it is."""
_VARIABLE_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,99}")
_NEVER_EXPANDED = ("0", "f", "F", "false", "False", "FALSE")


class _Refused(ValueError):
    """The file is YAML, and not what can be taken."""


def read_document(path: Path) -> dict[str, object]:
    """Return the first document of the file; numbers stay texts, because identifiers may look like them. Raise Unreadable."""
    with opened(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise unreadable(path, "", f"the file has more than {MAX_BYTES >> 20} MiB")
    text = io.TextIOWrapper(io.BytesIO(content), "utf-8-sig", newline="")
    values = _Values(yaml.parse(text, _Loader))
    try:
        value = values.read()
    except yaml.YAMLError as error:
        mark: yaml.Mark | None = getattr(error, "problem_mark", None)
        line = f"line {mark.line + 1}" if mark else ""
        raise unreadable(path, line, "this is no YAML") from error
    except UnicodeDecodeError as error:
        raise unreadable(path, "", "the text is not UTF-8") from error
    except _Refused as error:
        raise unreadable(path, values.place, str(error)) from error
    if not isinstance(value, dict):
        raise unreadable(path, "", "this is not dex's configuration, which has keys and values")
    return cast("dict[str, object]", value)


class _Anchored(NamedTuple):
    """The value of an anchor."""

    value: object
    size: int
    """The values that it consists of."""
    height: int
    key: yaml.ScalarEvent | None
    """Where it can be a key."""


class _Values:
    """Makes values of the parser's events, without its tree of nodes, which takes five times the memory.

    An alias counts each time, so that a few lines cannot become millions of values.
    """

    def __init__(self, events: Iterator[yaml.Event]) -> None:
        self._events = events
        self._path: list[str | int] = []
        self._anchors: dict[str, _Anchored | None] = {}
        """None while the value is being read."""
        self._count = self._depth = self._deepest = 0

    @property
    def place(self) -> str:
        """The place of the value that is read now."""
        place = ""
        for key in self._path:
            place = place_below(place, key)
        return place

    def read(self) -> object:
        """Return the first document, None for an empty file; raise _Refused."""
        for event in self._events:
            if isinstance(event, yaml.DocumentStartEvent):
                value = self._read_value(next(self._events))
                next(self._events)  # the document's end, or an error
                return value
        return None

    def _read_value(self, event: yaml.Event) -> object:
        if isinstance(event, yaml.AliasEvent):
            found = self._find(event)
            self._add(found.size, found.height)
            return found.value
        node = cast("yaml.NodeEvent", event)
        if node.anchor is not None:
            return self._read_anchored(node, node.anchor)
        return self._read_own_value(node)

    def _add(self, size: int, height: int) -> None:
        self._count += size
        if self._count > MAX_VALUES:
            raise _Refused(f"it has more than {MAX_VALUES} values")
        reached = self._depth + height
        if reached > MAX_DEPTH:
            raise _Refused(f"nested more than {MAX_DEPTH} levels deep")
        self._deepest = max(self._deepest, reached)

    def _read_own_value(self, event: yaml.NodeEvent) -> object:
        self._add(1, 1)
        if isinstance(event, yaml.ScalarEvent):
            return _scalar(event)
        self._depth += 1
        is_list = isinstance(event, yaml.SequenceStartEvent)
        value = self._read_sequence() if is_list else self._read_mapping()
        self._depth -= 1
        return value

    def _read_anchored(self, event: yaml.NodeEvent, name: str) -> object:
        if name in self._anchors:
            raise yaml.MarkedYAMLError(problem_mark=_mark(event))
        self._anchors[name] = None
        before, deepest, self._deepest = self._count, self._deepest, 0
        value = self._read_own_value(event)
        size, height = self._count - before, self._deepest - self._depth
        key = event if isinstance(event, yaml.ScalarEvent) else None
        self._anchors[name] = _Anchored(value, size, height, key)
        self._deepest = max(deepest, self._deepest)
        return value

    def _find(self, alias: yaml.AliasEvent) -> _Anchored:
        if alias.anchor not in self._anchors:
            raise yaml.MarkedYAMLError(problem_mark=_mark(alias))
        found = self._anchors[alias.anchor]
        if found is None:
            raise _Refused(f"the alias in line {_line(alias)} is inside its own anchor")
        return found

    def _read_sequence(self) -> list[object]:
        items = list[object]()
        while not isinstance(event := next(self._events), yaml.SequenceEndEvent):
            self._path.append(len(items))
            items.append(self._read_value(event))
            self._path.pop()
        return items

    def _read_mapping(self) -> dict[str, object]:
        own, merged = dict[str, object](), dict[str, object]()
        while not isinstance(event := next(self._events), yaml.MappingEndEvent):
            key = self._read_key(event)
            if key.implicit[0] and key.value == "<<":
                for each in self._read_merged(event):
                    merged = {**each, **merged}
                continue
            name = sys.intern(key.value)
            if name in own:
                raise _Refused(f"a key is there twice, again in line {_line(event)}")
            self._path.append(name)
            own[name] = self._read_value(next(self._events))
            self._path.pop()
        return {**merged, **own} if merged else own

    def _read_key(self, event: yaml.Event) -> yaml.ScalarEvent:
        key: yaml.Event | None = event
        if isinstance(event, yaml.AliasEvent):
            key = self._find(event).key
        elif isinstance(event, yaml.ScalarEvent) and event.anchor is not None:
            self._read_anchored(event, event.anchor)
        if not isinstance(key, yaml.ScalarEvent):
            raise _Refused("a key is no text")
        return key

    def _read_merged(self, key: yaml.Event) -> list[dict[str, object]]:
        value = self._read_value(next(self._events))
        listed = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(each, dict) for each in listed):
            raise _Refused(f"<< in line {_line(key)} does not name keys and values")
        return cast("list[dict[str, object]]", listed)


def _mark(event: yaml.Event) -> yaml.Mark:
    return cast("yaml.Mark", event.start_mark)  # each of the parser's has one


def _line(event: yaml.Event) -> int:
    return int(_mark(event).line) + 1


def _scalar(event: yaml.ScalarEvent) -> str | bool | None:
    text = str(event.value)
    return _WORDS.get(text, text) if event.implicit[0] else text


class Environment:
    """The variables that dex's configuration names; they have to be those of dex."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self._variables = variables
        self._expands = variables.get("DEX_EXPAND_ENV") not in _NEVER_EXPANDED

    def read(self, name: str, place: str) -> str:
        """Return the value of a variable; raise Misplaced where it is missing."""
        value = self._variables.get(name)
        if not value:
            shown = name if _VARIABLE_NAME.fullmatch(name) else "whose name it has"
            reason = f"it comes from the environment variable {shown}, which is not set"
            raise Misplaced(place, reason, "set it as dex has it, and import again")
        return value

    def expand(self, value: object, place: str) -> object:
        """Return the settings of a connector, storage or signer with its variables replaced, as dex does."""
        if not self._expands:
            return value
        if isinstance(value, str):
            return _VARIABLE.sub(lambda found: self._replace(found, place), value)
        if isinstance(value, list):
            items = cast("list[object]", value)
            return [self.expand(each, place_below(place, at)) for at, each in enumerate(items)]
        if isinstance(value, dict):
            members = cast("dict[str, object]", value)
            return {
                key: self.expand(each, place_below(place, key)) for key, each in members.items()
            }
        return value

    def _replace(self, found: re.Match[str], place: str) -> str:
        braced, special, name = found.groups()
        if special or braced == "":
            return ""
        return self.read(braced or name, place)
