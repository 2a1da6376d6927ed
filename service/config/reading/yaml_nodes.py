"""Parses YAML into nodes that know their file and line, and explains why a text is not YAML, with what to change."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

import yaml

from service.config.problem import ConfigError, Problem
from service.config.reading.files import FilesRead

if TYPE_CHECKING:
    from yaml import BaseLoader as _BaseLoader
else:  # in C if PyYAML has libyaml, which is much faster
    _BaseLoader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)

MAX_DEPTH = 40
PLAIN = "plain"
"""The tag of a scalar without quotes, whose look says what it is."""
CORE = "tag:yaml.org,2002:"
_FORBIDDEN = r"[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
"""YAML 1.2 §5.1; compiled only if a file has such a character, because that takes 5 ms."""
_KEY = re.compile(r"[ →]*(- +)*([\w.-]+:)?")
_ALIAS = re.compile(r"\*[^\s,\]}]*")
_KEY_WITHOUT_SPACE = re.compile(r"\s*(- +)*(?!urn:)[\w.-]+:(?!//)(?=\S)")
_LOOKALIKE = re.compile(
    r"(?P<sign>[\u00a0\u1680\u2000-\u200d\u202f\u205f\u2060\u3000\ufeff]|[\u2010-\u2015\u2212](?=\s))"
)
"""White space that is none to YAML, and dashes before a space."""
_LOOKALIKE_AFTER_COLON = re.compile(rf" *(- +)*[\w.-]+:{_LOOKALIKE.pattern}")
_CONFLICT = re.compile(r"^<{7}( |$)", re.MULTILINE)
"""Where git has written both sides of a conflict into the file."""
_COLOUR = re.compile(r":[ \t]+(#[0-9a-fA-F]{3,8})[ \t\r]*$", re.MULTILINE)
_NOT_INDENTED_ALIKE = (
    "did not find expected key",
    "did not find expected '-' indicator",
    "did not find expected <document start>",
    "mapping values are not allowed in this context",
)


def unreadable(
    message: str, at: yaml.Mark | None, hint: str | None = None, excerpt: str | None = None
) -> ConfigError:
    """Return the error of a text that cannot be read on, if need be with its line and a caret below it."""
    name, line, column = (at.name, at.line + 1, at.column + 1) if at else ("", 1, 1)
    problem = Problem(
        file=name, line=line, column=column, message=message, hint=hint, excerpt=excerpt
    )
    return ConfigError([problem])


def _position(name: str, line: int = 0, column: int = 0) -> yaml.Mark:
    return yaml.Mark(name, 0, line, column, None, 0)


def _line(text: str, number: int) -> str:
    """Return a line, empty after the last one, because YAML counts more kinds of line ends."""
    return "".join(text.split("\n")[number : number + 1])


def _position_after(name: str, text: str) -> yaml.Mark:
    return _position(name, text.count("\n"), len(text) - text.rfind("\n") - 1)


class _Loader(_BaseLoader):
    """Composes nodes; counts their depth, which would overflow the stack of the C parser."""

    _depth = 0

    def descend_resolver(self, current_node: yaml.Node | None, current_index: object) -> None:
        self._depth += 1
        if self._depth > MAX_DEPTH + 1:
            mark = current_node.start_mark if current_node else None
            raise unreadable(f"nested more than {MAX_DEPTH} levels deep", mark)

    def ascend_resolver(self) -> None:
        self._depth -= 1

    def resolve(self, kind: type[yaml.Node], value: str, implicit: tuple[bool, bool]) -> str:
        if kind is yaml.ScalarNode:
            return PLAIN if implicit[0] else f"{CORE}str"
        return CORE + ("seq" if kind is yaml.SequenceNode else "map")


def parse_file(path: Path, files: FilesRead) -> yaml.Node:
    """Return the only document of a file, and note the file; raise ConfigError if it is not YAML."""
    name = str(path)
    text = _read_text(path, files)
    stream = BytesIO(text.encode())
    stream.name = name  # the parser takes it into its marks
    try:
        root = _Loader(stream).get_single_node()
    except yaml.YAMLError as error:
        raise _explain(error, text, name) from error
    if root is None or (
        isinstance(root, yaml.ScalarNode) and (root.tag, root.value) == (PLAIN, "")
    ):
        return yaml.MappingNode(f"{CORE}map", [], _position(name))
    if _COLOUR.search(text):
        _refuse_unquoted_colours(root, text)
    return root


def _refuse_unquoted_colours(root: yaml.Node, text: str) -> None:
    """Raise ConfigError for a value that would be empty, because its colour is a comment to YAML."""
    waiting, seen = [root], set[int]()
    while waiting:
        node = waiting.pop()
        if isinstance(node, yaml.ScalarNode) and (node.tag, node.value) == (PLAIN, ""):
            at = node.start_mark
            colour = _COLOUR.search(_line(text, at.line), max(at.column - 1, 0))
            if colour is not None:
                message = "the value is empty, because # begins a comment"
                raise unreadable(message, at, f'a colour needs quotes: "{colour[1]}"')
        elif isinstance(node, yaml.CollectionNode) and id(node) not in seen:
            seen.add(id(node))
            entries = node.value
            waiting += [e[1] for e in entries] if isinstance(node, yaml.MappingNode) else entries


def _read_text(path: Path, files: FilesRead) -> str:
    files.note(path)
    try:
        return path.read_bytes().decode("utf-8-sig")
    except FileNotFoundError as error:
        hint = f"looked for at {path.absolute()}; --config or SERVICE_CONFIG names another"
        raise unreadable("No such file or directory", _position(str(path)), hint) from error
    except OSError as error:
        raise unreadable(error.strerror or "it cannot be read", _position(str(path))) from error
    except UnicodeDecodeError as error:
        at = _position_after(str(path), error.object[: error.start].decode())
        raise unreadable("the file is not UTF-8 text", at) from error
    except ValueError as error:
        raise unreadable("it is no path", _position(str(path))) from error


def own_entries(node: yaml.MappingNode) -> Iterator[tuple[yaml.ScalarNode, yaml.Node]]:
    """Yield the keys and values of a mapping, without `<<`."""
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise unreadable("a key must be a word", key.start_mark)
        if not _is_merge(key):
            yield key, value


def find_lookalike(key: yaml.ScalarNode, value: yaml.Node) -> tuple[str, str] | None:
    """Return message and hint where a character only looks like the space or hyphen that YAML needs; None otherwise."""
    found = _LOOKALIKE.search(key.value) if key.tag == PLAIN else None
    if found is None and isinstance(value, yaml.ScalarNode) and value.tag == PLAIN:
        below = value.start_mark.line > key.start_mark.line
        found = _LOOKALIKE_AFTER_COLON.match(value.value)
        found = found or (_LOOKALIKE.match(value.value) if below else None)
    return None if found is None else _explain_lookalike(found)


def _explain_lookalike(found: re.Match[str]) -> tuple[str, str]:
    sign = found["sign"]
    plain = "hyphen" if unicodedata.category(sign) in {"Pd", "Sm"} else "space"
    name = unicodedata.name(sign, "a character").lower()
    return f"{name} (U+{ord(sign):04X}) stands where YAML needs a {plain}", f"write a plain {plain}"


def merged_mappings(node: yaml.MappingNode) -> Iterator[yaml.MappingNode]:
    """Yield the mappings whose entries `<<` adds, each once; those that come first take precedence."""
    waiting, seen = [node], set[int]()
    while waiting:
        for key, value in waiting.pop(0).value:
            if not _is_merge(key):
                continue
            for source in value.value if isinstance(value, yaml.SequenceNode) else [value]:
                if not isinstance(source, yaml.MappingNode):
                    message = "<< takes a mapping, or a list of them"
                    raise unreadable(message, source.start_mark)
                if id(source) not in seen:
                    yield source
                    waiting.append(source)
                seen.add(id(source))


def find_below(
    node: yaml.Node | None, part: str | int
) -> tuple[yaml.Node | None, yaml.Node | None]:
    """Return the key and the value of a part; an item of a list is found by its position or its text."""
    if isinstance(node, yaml.MappingNode):
        for mapping in (node, *merged_mappings(node)):
            found = [entry for entry in own_entries(mapping) if entry[0].value == str(part)]
            if found:  # of a key that is there twice, the first value counts
                return found[-1][0], found[0][1]
    elif isinstance(node, yaml.SequenceNode):
        if isinstance(part, int):
            return None, node.value[part] if part < len(node.value) else None
        same = (item for item in node.value if isinstance(item, yaml.ScalarNode))
        return None, next((item for item in same if item.value == part), None)
    return None, None


def _is_merge(key: yaml.Node) -> bool:
    return key.value == "<<" and key.tag == PLAIN


def _explain(error: yaml.YAMLError, text: str, name: str) -> ConfigError:
    """Say what the parser failed at; where that is the end of a quote, name the quote."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        found = re.search(_FORBIDDEN, text)
        at = _position_after(name, text[: found.start()]) if found else _position(name)
        return unreadable("the file has characters that YAML does not allow", at)
    conflict = _CONFLICT.search(text)
    if conflict is not None:
        hint = "keep one side, and remove the lines that begin with <<<<<<<, ======= and >>>>>>>"
        at = _position_after(name, text[: conflict.start()])
        return unreadable("a conflict of git is not resolved", at, hint)
    at, problem = error.problem_mark, error.problem or "not YAML"
    line = _line(text, at.line)
    if "another document" in problem:
        return unreadable("the file holds more than one document", at)
    if "undefined alias" in problem:
        alias = _ALIAS.match(line, at.column)
        return unreadable(f"the alias {alias.group() if alias else '*'} has no anchor above it", at)
    return (
        _explain_begin(error, line, at)
        or _explain_quote(text, at)
        or _explain_after_colon(error, text, at)
        or _explain_context(error, text, at)
        or _explain_indent(problem, line, at)
        or unreadable(problem, at, _hint(line, at))
    )


def _explain_begin(error: yaml.MarkedYAMLError, line: str, at: yaml.Mark) -> ConfigError | None:
    """Return the error of a quote that is not closed, or of a line that begins with what only looks like a space or hyphen."""
    if error.context == "while scanning a quoted scalar":
        return unreadable("this quote is not closed", error.context_mark)
    indent = len(line) - len(line.lstrip(" "))
    found = _LOOKALIKE.match(line, indent)
    if found is None:
        return None
    message, hint = _explain_lookalike(found)
    return unreadable(message, _position(at.name, at.line, indent), hint)


def _explain_after_colon(
    error: yaml.MarkedYAMLError, text: str, at: yaml.Mark
) -> ConfigError | None:
    """Return the error of a key whose colon is followed by what only looks like a space, in the line before the problem."""
    begin = error.context_mark or at
    for number in (begin.line, at.line - 1):
        found = _LOOKALIKE_AFTER_COLON.match(_line(text, max(number, 0)))
        if found is not None:
            message, hint = _explain_lookalike(found)
            return unreadable(message, _position(at.name, number, found.start("sign")), hint)
    return None


def _explain_context(error: yaml.MarkedYAMLError, text: str, at: yaml.Mark) -> ConfigError | None:
    """Return the error of what began before the problem: brackets, a key, or a text that looks like an alias."""
    context, begin = error.context or "", error.context_mark or at
    sign = _line(text, begin.line)[begin.column : begin.column + 1]
    if context in {"while scanning an alias", "while scanning an anchor"}:
        return unreadable(f"a text cannot begin with {sign}", begin, f'write "{sign}" in quotes')
    if context.startswith("while parsing a flow") and begin.line < at.line:
        if "${" in _line(text, at.line):
            return None
        hint = f"close it, or put a comma between its items, before line {at.line + 1}"
        return unreadable(f"this {sign} is not closed", begin, hint)
    is_key = context == "while scanning a simple key"
    suspect = begin.line if is_key else at.line - 1
    key = _KEY_WITHOUT_SPACE.match(_line(text, suspect))
    if key is not None and (is_key or error.problem in _NOT_INDENTED_ALIKE):
        colon = _position(at.name, suspect, key.end() - 1)
        return unreadable("a space is missing after this colon", colon, "write key: value")
    if is_key:
        return unreadable(f"{error.problem}", begin, "a key has a colon and a space after it")
    return None


def _explain_quote(text: str, at: yaml.Mark) -> ConfigError | None:
    """Return the error of a quote of several lines that ends in the line of the problem."""
    last = None
    try:
        for event in yaml.parse(text, _Loader):
            last = event if isinstance(event, yaml.ScalarEvent) else last
    except yaml.YAMLError:
        pass  # the one that is to be explained
    if last is None or last.style not in {"'", '"'}:
        return None
    begin, end = last.start_mark, last.end_mark
    if begin is None or end is None or not begin.line < end.line == at.line:
        return None
    message = f"this quote ends in line {end.line + 1} only, and more follows there"
    return unreadable(message, _position(at.name, begin.line, begin.column))


def _explain_indent(problem: str, line: str, at: yaml.Mark) -> ConfigError | None:
    """Return the error of a line that begins with a tab or at a column that no line above begins at."""
    indent = len(line) - len(line.lstrip())
    before = line[: at.column].strip()
    if "\t" in line[:indent] and not before:
        column = line.index("\t")
        message, hint = "a tab cannot indent a line", "indent with spaces, two for each level"
    elif problem in _NOT_INDENTED_ALIKE and (not before or before.isidentifier()):
        column = indent
        message = "the indent of this line fits no line above it"
        hint = "indent it like the keys that it belongs with"
    else:
        return None
    visible = line.replace("\t", "→")
    key = _KEY.match(visible)
    shown = key.group().rstrip() if key else ""  # the value may be a secret
    rest = " …" if len(visible.rstrip()) > len(shown) else ""
    excerpt = f"{shown}{rest}\n{' ' * column}^"
    return unreadable(message, _position(at.name, at.line, column), hint, excerpt)


def _hint(line: str, at: yaml.Mark) -> str | None:
    if "${" in line:
        return "inside of [ ] and { }, ${…} needs quotes"
    if line[at.column : at.column + 1] in {":", "@", "`", "%"}:
        return "a text that holds a colon and a space, or begins with @, ` or %, needs quotes"
    return None
