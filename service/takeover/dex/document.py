"""Reads dex's config.yaml: the first of its documents, with what it takes from the environment."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import yaml

from service.takeover.node import Misplaced, place_below
from service.takeover.reading import opened, unreadable

if TYPE_CHECKING:
    from yaml import BaseLoader as _BaseLoader
else:
    _BaseLoader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

_PLAIN = "plain"
"""The tag of a scalar without quotes, whose look says what it is."""
MAX_BYTES = 16 << 20
MAX_DEPTH = 64
MAX_VALUES = 1_000_000
_TRUE = re.compile("true|True|TRUE|yes|Yes|YES|on|On|ON|y|Y")
_FALSE = re.compile("false|False|FALSE|no|No|NO|off|Off|OFF|n|N")
_NULL = re.compile("~|null|Null|NULL|")
_VARIABLE = re.compile(r"\$(?:\{([^}]*)\}|([*#$@!?0-9-])|([A-Za-z_][A-Za-z0-9_]*))")
"""The references that os.Expand of Go replaces; a dollar sign before anything else stays as it is."""
_VARIABLE_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,99}")
_NEVER_EXPANDED = ("0", "f", "F", "false", "False", "FALSE")


class _Refused(ValueError):
    """The file is YAML, and not what can be taken."""


class _Loader(_BaseLoader):
    """Composes nodes; counts their depth, which would overflow the stack of the C parser."""

    _depth = 0

    def descend_resolver(self, current_node: yaml.Node | None, current_index: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise _Refused(f"nested more than {MAX_DEPTH} levels deep")

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: type[yaml.Node], value: str, implicit: tuple[bool, bool]) -> str:
        return _PLAIN if kind is yaml.ScalarNode and implicit[0] else "quoted"


def read_document(path: Path) -> dict[str, object]:
    """Return the first document of the file; numbers stay texts, because identifiers may look like them. Raise Unreadable."""
    with opened(path) as file:
        content = file.read(MAX_BYTES + 1)
    if len(content) > MAX_BYTES:
        raise unreadable(path, "", f"the file has more than {MAX_BYTES >> 20} MiB")
    values = _Values()
    try:
        root = next(iter(yaml.compose_all(content.decode("utf-8-sig"), _Loader)), None)
        value = values.read(root, "") if root is not None else None
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


class _Values:
    """Makes values of nodes; an alias counts each time, so that a few lines cannot become millions of values."""

    def __init__(self) -> None:
        self.place = ""
        """Of what is being read."""
        self._count = 0

    def read(self, node: yaml.Node, place: str) -> object:
        """Return the value of a node; raise _Refused."""
        self._count += 1
        self.place = place
        if self._count > MAX_VALUES:
            raise _Refused(f"it has more than {MAX_VALUES} values")
        if isinstance(node, yaml.ScalarNode):
            return _scalar(node)
        if isinstance(node, yaml.SequenceNode):
            return [self.read(item, place_below(place, at)) for at, item in enumerate(node.value)]
        return self._mapping(cast("yaml.MappingNode", node), place)

    def _mapping(self, node: yaml.MappingNode, place: str) -> dict[str, object]:
        own, merged = dict[str, object](), dict[str, object]()
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise _Refused("a key is no text")
            if (key.tag, key.value) == (_PLAIN, "<<"):
                for each in self._merged(value, place):
                    merged = {**each, **merged}
                continue
            if key.value in own:
                raise _Refused(f"a key is there twice, again in line {_line(key)}")
            own[key.value] = self.read(value, place_below(place, key.value))
        return {**merged, **own}

    def _merged(self, node: yaml.Node, place: str) -> list[dict[str, object]]:
        value = self.read(node, place)
        listed = cast("list[object]", value) if isinstance(value, list) else [value]
        if not all(isinstance(each, dict) for each in listed):
            raise _Refused(f"<< in line {_line(node)} does not name keys and values")
        return cast("list[dict[str, object]]", listed)


def _line(node: yaml.Node) -> int:
    return int(node.start_mark.line) + 1


def _scalar(node: yaml.ScalarNode) -> str | bool | None:
    text = str(node.value)
    if node.tag != _PLAIN:
        return text
    if _NULL.fullmatch(text):
        return None
    if _TRUE.fullmatch(text) or _FALSE.fullmatch(text):
        return _TRUE.fullmatch(text) is not None
    return text


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
