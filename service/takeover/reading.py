"""Reads a JSON file as a stream, within limits, and knows the place of everything in it."""

from __future__ import annotations

import codecs
import stat
from collections.abc import Callable, Collection, Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, cast

import ijson  # pyright: ignore[reportMissingTypeStubs]

from service.takeover.node import Node, place_below

MAX_BYTES = 1 << 30
MAX_DEPTH = 64
MAX_VALUES = 1_000_000
"""Values in one item of a list: a client, a user, a role."""
MAX_TEXT = 64 << 20
"""Characters in one item of a list."""
_CHUNK = 1 << 17
_BOMS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_TWICE = "the key is there twice"
_TOO_DEEP = f"nested more than {MAX_DEPTH} levels deep"
_BEGINS: Mapping[str, Callable[[], Any]] = {"start_map": dict, "start_array": list}
_ENDS = ("end_map", "end_array")
_Event = tuple[str, Any]


class Unreadable(Exception):
    """The input cannot be read any further; the message has the file and the place, and nothing of its content."""


def read_members(
    path: Path,
    *,
    comments: bool = False,
    skip: Collection[str] = (),
    seen: set[str] | None = None,
) -> Iterator[Node]:
    """Yield each member of the file's object, or each of its items where it is a list; items of a file that is a list, too.

    Members with a key of `skip` are passed over; all keys are added to `seen`. Raise Unreadable.
    """
    with opened(path) as file:
        stream = _Stream(_decode(file), path)
        reader = _Reader(ijson.basic_parse(stream, use_float=True, allow_comments=comments))
        try:
            yield from reader.read(skip, set() if seen is None else seen)
        except ijson.JSONError as error:
            reason = str(error).partition("\n")[0].rpartition("error: ")[2].rstrip(".")
            raise unreadable(path, reader.place, f"this is no JSON ({reason})") from error
        except _Refused as error:
            raise unreadable(path, reader.place, str(error)) from error
        except UnicodeDecodeError as error:
            raise unreadable(path, reader.place, "the text is not Unicode") from error


@contextmanager
def opened(path: Path) -> Generator[IO[bytes]]:
    """Open a file of at most MAX_BYTES to read it; raise Unreadable."""
    try:
        with path.open("rb") as file:
            found = path.stat()
            if not stat.S_ISREG(found.st_mode):
                raise unreadable(path, "", "this is no file")
            if found.st_size > MAX_BYTES:
                raise unreadable(path, "", "the file has more than 1 GiB")
            yield file
    except OSError as error:
        raise unreadable(path, "", error.strerror or "it cannot be read") from error


def unreadable(path: Path, place: str, reason: str) -> Unreadable:
    """Return the error at a place of a file."""
    where = f"at {place}: " if place else ""
    return Unreadable(f"{path}: {where}{reason}")


class _Refused(ValueError):
    """The file is JSON, and not what can be taken."""


class _Stream:
    """A file that may grow while it is read."""

    def __init__(self, file: IO[bytes], path: Path) -> None:
        self._file, self._path, self._read = file, path, 0

    def read(self, size: int) -> bytes:
        """Return the next bytes; ijson asks for none to see what it gets."""
        content = self._file.read(min(size, _CHUNK))
        self._read += len(content)
        if self._read > MAX_BYTES:
            raise unreadable(self._path, "", "the file has more than 1 GiB")
        return content


def _decode(file: IO[bytes]) -> IO[bytes]:
    """Return the file as UTF-8 without a mark at its begin; some editors and databases write UTF-16."""
    begin = file.read(4)
    file.seek(0)
    for mark, encoding in _BOMS.items():
        if begin.startswith(mark):
            recoded = codecs.EncodedFile(file, "utf-8", encoding)
            return cast("IO[bytes]", recoded)
    return file


class _Reader:
    """Makes values of the events of the parser."""

    def __init__(self, events: Iterator[_Event]) -> None:
        self._events = events
        self.place = ""
        """Of what is being read."""
        self._values = self._text = 0

    def read(self, skip: Collection[str], seen: set[str]) -> Iterator[Node]:
        """Yield what `read_members` does."""
        event, _ = next(self._events)
        if event == "start_array":
            yield from self._items("")
        elif event == "start_map":
            yield from self._members(skip, seen)
        else:
            raise _Refused("this is neither an object nor a list")
        for _ in self._events:  # what follows is an error of the parser's
            pass

    def _members(self, skip: Collection[str], seen: set[str]) -> Iterator[Node]:
        for ending, key in self._events:
            if ending == "end_map":
                return
            self.place = place_below("", key)
            if key in seen:
                raise _Refused(_TWICE)
            seen.add(key)
            event, value = next(self._events)
            if key in skip:
                self._pass(event)
            elif event == "start_array":
                yield from self._items(key)
            else:
                yield Node(self.place, self._value(event, value, depth=1), key)

    def _items(self, key: str) -> Iterator[Node]:
        below = place_below("", key) if key else ""
        for at, (event, value) in enumerate(self._events):
            if event == "end_array":
                return
            self.place = f"{below}[{at}]"
            yield Node(self.place, self._value(event, value, depth=2 if key else 1), key)

    def _pass(self, event: str) -> None:
        """Pass over a value."""
        depth = int(event in _BEGINS)
        while depth:
            event, _ = next(self._events)
            if event in _BEGINS:
                depth += 1
                if depth >= MAX_DEPTH:
                    raise _Refused(_TOO_DEEP)
            elif event in _ENDS:
                depth -= 1

    def _value(self, event: str, value: Any, depth: int) -> object:
        """Return the value that begins with this event, within the limits."""
        if event not in _BEGINS:
            return value
        begin, self._values, self._text = self.place, 0, 0
        root: Any = _BEGINS[event]()
        stack: list[Any] = [root]
        keys: list[str] = [""]
        try:
            self._fill(stack, keys, depth)
        except (_Refused, ijson.JSONError, UnicodeDecodeError):
            for container, key, is_last in zip(
                stack, keys, [*[False] * (len(stack) - 1), True], strict=True
            ):
                last = key if isinstance(container, dict) else len(container) - (not is_last)
                self.place = place_below(self.place, last) if last != "" else self.place
            raise
        self.place = begin
        return root

    def _fill(self, stack: list[Any], keys: list[str], depth: int) -> None:
        """Read up to the end of the first container; `keys` has the last key of each object."""
        deepest = MAX_DEPTH - depth
        for event, value in self._events:
            if event == "map_key":
                self._begin_member(stack[-1], value)
                keys[-1] = value
            elif event in _ENDS:
                stack.pop()
                keys.pop()
                if not stack:
                    return
            else:
                made = _BEGINS[event]() if event in _BEGINS else value
                self._put(stack[-1], keys[-1], made)
                if event in _BEGINS:
                    stack.append(made)
                    keys.append("")
                if len(stack) > deepest:
                    raise _Refused(_TOO_DEEP)

    def _begin_member(self, container: dict[str, object], key: str) -> None:
        if key in container:
            raise _Refused(_TWICE)
        self._text += len(key)

    def _put(self, container: Any, key: str, value: object) -> None:
        if type(container) is dict:
            container[key] = value
        else:
            container.append(value)
        self._values += 1
        if type(value) is str:
            self._text += len(value)
        if self._values > MAX_VALUES or self._text > MAX_TEXT:
            raise _Refused("one entry is larger than any that such a server can have")
