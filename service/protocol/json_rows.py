"""Reads a long JSON array of objects as a stream: its memory is that of the longest object (RFC 8259)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import TextIO, cast

from service.protocol.json_input import JsonRefused, refuse_constant, unique_members

CHUNK = 65_536
"""Characters that are read at once."""

_NEAR = 16
"""Characters before the end of what was read, within which an error may be that a word is cut off."""

_SPACE = re.compile(r"[ \t\r\n]*")
_decode = json.JSONDecoder(
    object_pairs_hook=unique_members, parse_constant=refuse_constant
).raw_decode


class JsonRows:
    """A position in a file; whatever is wrong is a JsonRefused, of which `line` is the place."""

    def __init__(self, file: TextIO, *, longest: int) -> None:
        """Take a file, and how many characters one value in it may have."""
        self._file, self._longest = file, longest
        self._text, self._at, self._reached = "", 0, 1
        self.line = 1
        """The line in which the last value begins, or in which the error is."""

    def read_members(self, last: str) -> Mapping[str, object]:
        """Return the members of the object that the file is, up to the member `last`, which is an array."""
        members = dict[str, object]()
        self._take("{")
        while self._peek() == '"':
            name = str(self._read_value())
            self._take(":")
            if name == last:
                return members
            if name in members:
                raise JsonRefused("has a member more than once")
            members[name] = self._read_value()
            if self._peek() != "}":
                self._take(",")
        raise JsonRefused(f"has no member {last} at its end")

    def read_rows(self) -> Iterator[Mapping[str, object]]:
        """Yield the objects of the array that comes next."""
        self._take("[")
        is_first = True
        while self._peek() != "]":
            if not is_first:
                self._take(",")
            row, is_first = self._read_value(), False
            if not isinstance(row, dict):
                raise JsonRefused("has an entry that is not an object")
            yield cast("dict[str, object]", row)
        self._take("]")

    def end(self, *, closing: str = "") -> None:
        """Refuse everything but these characters, and white space."""
        for character in closing:
            self._take(character)
        if self._peek():
            raise JsonRefused("goes on behind its end")

    def _peek(self) -> str:
        """Return the next character that is not white space; nothing at the end."""
        while True:
            found = _SPACE.match(self._text, self._at)
            self._move_to(found.end() if found else self._at)
            if self._at < len(self._text) or not self._read_more():
                return self._text[self._at : self._at + 1]

    def _take(self, character: str) -> None:
        if self._peek() != character:
            raise JsonRefused(f"is not JSON of this form: {character} is missing")
        self._move_to(self._at + 1)

    def _read_value(self) -> object:
        self._peek()
        while True:
            try:
                value, end = _decode(self._text, self._at)
            except json.JSONDecodeError as error:
                if self._may_be_cut_off(error) and self._read_more():
                    continue
                self._move_to(error.pos)
                raise JsonRefused("is not JSON") from None
            except JsonRefused:
                raise
            except (RecursionError, ValueError):
                raise JsonRefused("has a value that is nested too deeply, or too long") from None
            if end == len(self._text) and self._read_more():
                continue  # a number may go on
            _require_unicode(self._text[self._at : end], value)
            line = self.line
            self._move_to(end)
            self.line = line
            return value

    def _may_be_cut_off(self, error: json.JSONDecodeError) -> bool:
        return error.msg.startswith("Unterminated") or error.pos > len(self._text) - _NEAR

    def _move_to(self, position: int) -> None:
        self._reached += self._text.count("\n", self._at, position)
        self._at, self.line = position, self._reached

    def _read_more(self) -> bool:
        """Read on, and forget what is behind; return whether there was more."""
        if len(self._text) - self._at > self._longest:
            raise JsonRefused(f"has a value of more than {self._longest} characters")
        try:
            chunk = self._file.read(max(CHUNK, len(self._text) - self._at))
        except UnicodeDecodeError:
            raise JsonRefused("is not UTF-8") from None
        self._text, self._at = self._text[self._at :] + chunk, 0
        return bool(chunk)


def _require_unicode(text: str, value: object) -> None:
    """Refuse halves of characters, which a text may be written with, and nothing can store."""
    if "\\u" in text:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError:
            raise JsonRefused("has half a character") from None
