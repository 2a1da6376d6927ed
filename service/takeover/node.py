"""A JSON value of a source, with its place; what has another type than expected is an error with its place."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import cast

import msgspec

from service.protocol.json_input import JsonRefused, parse_json

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,60}")
_SWITCHES = {"true": True, "false": False, "": None}
_LONGEST_NAME = 60
BY_HAND = "mend it in the export, or write the entry by hand"
ADD_PROVIDER = (
    "add the provider, and its name to identity_provider_restrictions of the client: "
    "an empty list means all providers"
)


class Misplaced(ValueError):
    """A value is not of the type that it has in such an export, or means nothing here; the message does not repeat it."""

    def __init__(self, place: str, reason: str, remedy: str = BY_HAND) -> None:
        super().__init__(f"{place}: {reason}")
        self.place, self.reason, self.remedy = place, reason, remedy


def quoted(name: object) -> str:
    """Return a name of the source as messages show it: in quotes, not too long."""
    if name is None:
        return "one without a name"
    text = str(name)
    shown = text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}…"
    return json.dumps(shown, ensure_ascii=False)


def place_below(place: str, key: str | int) -> str:
    """Return the place of a member or an item."""
    if isinstance(key, int):
        return f"{place}[{key}]"
    shown = _shown_key(key)
    return shown.removeprefix(".") if not place else place + shown


@lru_cache(maxsize=1000)  # there are few, and each value has one
def _shown_key(key: str) -> str:
    return f".{key}" if _PLAIN_KEY.fullmatch(key) else f"[{quoted(key)}]"


class Node(msgspec.Struct, frozen=True):
    """A value and its place; getters take the key of a member, and return None where it is missing or null."""

    place: str
    value: object
    key: str = ""
    """The key of the whole file's object that it is below."""

    def below(self, key: str) -> Node:
        """Return the member, with the value None where it is missing."""
        return Node(place_below(self.place, key), self._object().get(key), self.key)

    def peek(self, key: str) -> object:
        """Return the value of a member, of any type; None also where this is not an object."""
        if not isinstance(self.value, dict):
            return None
        return cast("dict[str, object]", self.value).get(key)

    def has(self, key: str) -> bool:
        return self._object().get(key) is not None

    def text(self, key: str) -> str | None:
        """Return the text of a member."""
        value = self._object().get(key)
        # The place, which takes as long as all else, is for errors.
        return value if value is None or isinstance(value, str) else self.below(key).as_text()

    def required_text(self, key: str) -> str:
        """Return the text of a member that has to be there."""
        text = self.text(key)
        if not text:
            raise Misplaced(self.place, f"{key} is missing")
        return text

    def flag(self, key: str, default: bool = False) -> bool:
        """Return a member that is true or false, also as a text."""
        value = self._object().get(key)
        if isinstance(value, str):
            value = _SWITCHES.get(value.lower(), value)
        if value is None:
            return default
        if not isinstance(value, bool):
            raise Misplaced(self.below(key).place, "is neither true nor false")
        return value

    def number(self, key: str) -> int | None:
        """Return a member that is a whole number, also as a text."""
        value = self._object().get(key)
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
            return int(value)
        if value is None or value == "":
            return None
        if isinstance(value, float) and value.is_integer():
            return int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise Misplaced(self.below(key).place, "is no whole number")
        return value

    def items(self, key: str) -> Iterator[Node]:
        """Yield the items of a member that is a list."""
        found = self.below(key)
        if found.value is None:
            return
        if not isinstance(found.value, list):
            raise Misplaced(found.place, "is no list")
        for at, value in enumerate(cast("list[object]", found.value)):
            yield Node(f"{found.place}[{at}]", value, self.key)

    def texts(self, key: str) -> list[str]:
        """Return the texts of a member that is a list of them."""
        value = self._object().get(key)
        if isinstance(value, list):
            listed = cast("list[object]", value)
            texts = [each for each in listed if isinstance(each, str)]
            if len(texts) == len(listed):
                return texts
        return [item.as_text() for item in self.items(key)]

    def members(self) -> Iterator[tuple[str, Node]]:
        """Yield the members; none of null."""
        if self.value is not None:
            for key in self._object():
                yield key, self.below(key)

    def parsed(self, key: str) -> Node:
        """Return a member that is JSON within a text."""
        found = self.below(key)
        if not isinstance(found.value, str):
            return found
        try:
            value = parse_json(found.value)
        except (JsonRefused, UnicodeError) as error:
            raise Misplaced(found.place, "is no JSON, or nested too deeply") from error
        return Node(found.place, value, self.key)

    def as_text(self) -> str:
        """Return the value, which has to be a text."""
        if not isinstance(self.value, str):
            raise Misplaced(self.place, "is no text")
        return self.value

    def _object(self) -> Mapping[str, object]:
        if self.value is None:
            return {}
        if not isinstance(self.value, dict):
            raise Misplaced(self.place or "the file", "is no object")
        return cast("Mapping[str, object]", self.value)
