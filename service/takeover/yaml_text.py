"""Writes values as YAML in which everything from elsewhere is quoted, so that it means nothing but itself."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import cast

from service.takeover.found import Entry, SecretText

_KEY = re.compile(r"[a-z][a-z0-9_]*")
"""A key of ours; any other one is somebody's."""
_PLACE = re.compile(r"[A-Za-z0-9_.\[\]/: -]{1,200}")
_SPECIAL = re.compile(r'["\\]|[^ -~]')
_ESCAPED = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}

KeepSecret = Callable[[str], str]
"""Puts a text into a file of its own, and returns the name of the file."""


def quote(text: str) -> str:
    """Return a text in double quotes; what is invisible becomes an escape (YAML 1.2 §5.7)."""
    return f'"{_SPECIAL.sub(_escape, text)}"'


def _escape(found: re.Match[str]) -> str:
    character = found[0]
    if character in _ESCAPED:
        return _ESCAPED[character]
    if character.isprintable():
        return character
    code = ord(character)
    if code < 1 << 8:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"


def write_value(value: object, keep_secret: KeepSecret) -> str:
    """Return a value in one line; the reader of the file replaces no `${` that was in it."""
    if isinstance(value, SecretText):
        return f'"${{file:{keep_secret(value.text)}}}"'
    if isinstance(value, str):
        return quote(value.replace("${", "$${"))
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, Mapping):
        members = cast("Mapping[str, object]", value).items()
        shown = (f"{_key(key)}: {write_value(each, keep_secret)}" for key, each in members)
        return f"{{{', '.join(shown)}}}"
    if isinstance(value, list | tuple):
        items = cast("list[object]", value)
        return f"[{', '.join(write_value(each, keep_secret) for each in items)}]"
    return repr(value)


def _key(key: str) -> str:
    return key if _KEY.fullmatch(key) and key not in {"true", "false", "null"} else quote(key)


def write_entry(entry: Entry, keep_secret: KeepSecret, indent: str = "  ") -> Iterator[str]:
    """Yield the lines of an item of a list, with its place in a comment."""
    place = _PLACE.match(entry.place)
    if place:
        yield f"{indent}# {place.group()}"
    begin = f"{indent}- "
    for key, value in entry.values.items():
        yield f"{begin}{_key(key)}: {write_value(value, keep_secret)}"
        begin = f"{indent}  "


def write_section(
    name: str, entries: list[Entry], keep_secret: KeepSecret, indent: str = ""
) -> Iterator[str]:
    """Yield the lines of a list."""
    yield f"{indent}{name}:"
    for entry in entries:
        yield from write_entry(entry, keep_secret, f"{indent}  ")
