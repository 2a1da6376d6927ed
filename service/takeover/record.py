"""Reads the members of an object as other servers write them: keys in any case, numbers and words as text, JSON inside text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import cast

from service.protocol.json_input import JsonRefused, parse_json
from service.takeover.found import Found
from service.takeover.node import Misplaced, place_below

_TRUE, _FALSE = ("true", "1", "t"), ("false", "0", "f")
_UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_PART = re.compile(r"([0-9]{1,12}(?:\.[0-9]{0,12})?|\.[0-9]{1,12})(ns|us|µs|μs|ms|s|m|h)")


class Record:
    """An object of the source, with the place of it; a member of an unexpected type raises Misplaced."""

    def __init__(self, place: str, value: object) -> None:
        """Take the object, whose keys count in upper and lower case alike."""
        if not isinstance(value, dict):
            raise Misplaced(place or "the file", "is no object")
        self.place = place
        self.own_keys: dict[str, str] = {}
        self._members: dict[str, object] = {}
        for key, member in cast("dict[str, object]", value).items():
            if key.lower() in self._members:
                raise Misplaced(place, "has two members of one name")
            self._members[key.lower()] = member
            self.own_keys[key.lower()] = key

    def __contains__(self, key: str) -> bool:
        return self._members.get(key.lower()) is not None

    def get(self, key: str) -> object:
        """Return the value of a member as it is; None without it."""
        return self._members.get(key.lower())

    def set(self, key: str, value: object) -> None:
        """Read a member as this value."""
        self.own_keys[key.lower()], self._members[key.lower()] = key, value

    def below(self, key: str) -> str:
        """Return the place of a member."""
        return place_below(self.place, key)

    def text(self, key: str) -> str | None:
        """Return a text that is not empty; a number counts as one."""
        value = self.get(key)
        if value is None or value == "":
            return None
        if isinstance(value, str):
            return value
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        raise Misplaced(self.below(key), "is no text")

    def flag(self, key: str, *, default: bool) -> bool:
        """Return whether it is true, which rows write as 1."""
        value = self.get(key)
        if value is None or value == "":
            return default
        if isinstance(value, bool):
            return value
        written = str(value).lower() if isinstance(value, (str, int)) else ""
        if written in _TRUE or written in _FALSE:
            return written in _TRUE
        raise Misplaced(self.below(key), "is neither true nor false")

    def number(self, key: str) -> int | None:
        """Return a whole number."""
        value = self.get(key)
        if value is None or value == "":
            return None
        if isinstance(value, int) and not isinstance(value, bool):
            return value
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value):
            return int(value)
        raise Misplaced(self.below(key), "is no whole number")

    def duration(self, key: str) -> int | None:
        """Return the whole seconds, at least one, of a duration as Go writes it (time.ParseDuration); None without it, or for no length."""
        text, at, seconds = self.text(key) or "", 0, Fraction(0)
        if text.strip("+0hmsnuµμ.") == "":
            return None
        while (part := _PART.match(text, at)) is not None:
            seconds += Fraction(part[1]) * _UNITS[part[2]]
            at = part.end()
        if at < len(text):
            raise Misplaced(self.below(key), "is no duration such as 24h or 1h30m")
        return max(1, int(seconds))

    def word(self, key: str, words: Sequence[str], default: str) -> str:
        """Return one of these words, which may be written as its number or in another case."""
        value = self.get(key)
        if value is None or value == "":
            return default
        written = str(value).lower()
        if written.isdecimal() and int(written) < len(words):
            return words[int(written)]
        found = next((word for word in words if word.lower() == written), None)
        if found is None:
            raise Misplaced(self.below(key), f"is none of {', '.join(words)}")
        return found

    def items(self, key: str) -> Iterator[tuple[str, object]]:
        """Yield each item of a list with its place; a list may be an object with any keys, or JSON in a text."""
        value = self.get(key)
        if isinstance(value, str):
            value = self._parse(key, value)
        if value is None:
            return
        if isinstance(value, dict):
            value = list(cast("dict[str, object]", value).values())
        if not isinstance(value, list):
            raise Misplaced(self.below(key), "is no list")
        for at, item in enumerate(cast("list[object]", value)):
            yield f"{self.below(key)}[{at}]", item

    def texts(self, key: str, member: str = "") -> tuple[str, ...]:
        """Return the texts of a list, each once; rows have each in an object, as this member."""
        found: dict[str, None] = {}
        for place, item in self.items(key):
            text: object = item
            if isinstance(item, dict) and member:
                text = Record(place, cast("object", item)).text(member)
            if not isinstance(text, str):
                raise Misplaced(place, "is no text")
            if text:
                found[text] = None
        return tuple(found)

    def records(self, key: str) -> Iterator[Record]:
        """Yield each object of a list."""
        for place, item in self.items(key):
            yield Record(place, item)

    def record(self, key: str) -> Record:
        """Return an object, an empty one without it."""
        value = self.get(key)
        if isinstance(value, str):
            value = self._parse(key, value)
        return Record(self.below(key), {} if value is None else value)

    def members(self) -> Mapping[str, object]:
        """Return the members under the keys that the source has."""
        return {self.own_keys[key]: value for key, value in self._members.items()}

    def _parse(self, key: str, text: str) -> object:
        if not text.strip():
            return None
        if not text.lstrip().startswith(("[", "{")):
            raise Misplaced(self.below(key), "is no list")
        try:
            return parse_json(text)
        except JsonRefused:
            raise Misplaced(self.below(key), "is no JSON") from None


def each_record(items: Iterable[tuple[str, object]], found: Found) -> Iterator[Record]:
    """Yield each object of a list; anything else is left out."""
    for place, value in items:
        with found.taking(place):
            record = Record(place, value)
            client_id = record.get("client_id") or record.get("ClientId")
            if isinstance(client_id, str):
                found.report.name(place, client_id)
            yield record
