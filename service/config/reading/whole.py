"""The main file and what it includes, as one; and the way back from the whole to the file that a value stands in."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from service.config.problem import Finding, Location, Problem
from service.config.reading.include_rules import LISTS, misplaced
from service.config.reading.part import Part
from service.config.reading.places import Places
from service.config.reading.values import Value


@dataclass(frozen=True, slots=True)
class Stretch:
    """From which entry of a joined list on a part's own entries stand there."""

    begin: int
    part: Part


class Whole:
    """All parts, the main one first, joined list by list."""

    def __init__(self, main: Part, included: Sequence[Part]) -> None:
        self._main = main
        self._parts = (main, *included)
        self._stretches: dict[Location, list[Stretch]] = {}
        self.overridden: Mapping[Location, str] = {}
        """The environment variable by whose value that of the file is replaced."""
        self.values: Value = dict(main.values) if isinstance(main.values, dict) else main.values
        for location in LISTS if included else ():
            self._join(location)

    def _join(self, location: Location) -> None:
        """Put the parts' lists behind one another, unless the main part has no list where one belongs."""
        stretches: list[Stretch] = []
        joined: list[Value] = []
        for part in self._parts:
            entries = _at(part.values, location)
            if isinstance(entries, list):
                stretches.append(Stretch(len(joined), part))
                joined += entries
            elif part is self._main and entries is not None:
                return
        if any(stretch.part is not self._main for stretch in stretches):
            self._stretches[location] = stretches
            _put(self.values, location, joined)

    def entries(self) -> Iterator[object]:
        """Every entry of every list, as it is written and as it is understood: what takes up room."""
        for part in self._parts:
            for location in LISTS:
                entries = _at(part.values, location)
                yield from entries if isinstance(entries, list) else ()
                yield from part.places.entries(location)

    @property
    def unresolved(self) -> set[Location]:
        """Where in the whole a reference or a tag stands for nothing."""
        return {
            seen
            for part in self._parts
            for location in part.unresolved
            if (seen := self._seen_from_the_whole(part, location)) is not None
        }

    @property
    def replaced(self) -> dict[Location, str]:
        """The text behind each value in the whole that is one reference."""
        return {
            seen: text
            for part in self._parts
            for location, text in part.replaced.items()
            if (seen := self._seen_from_the_whole(part, location)) is not None
        }

    def problems_of_parts(self) -> Iterator[Problem]:
        """What was found in reading each file, and what does not belong into an included one."""
        for part in self._parts:
            further = misplaced(part.values) if part is not self._main else ()
            yield from (part.places.problem(finding) for finding in (*part.findings, *further))

    def problem(self, finding: Finding) -> Problem:
        """A finding on the whole, with its place in the file where it stands, or the variable that says it."""
        variable = self.overridden.get(finding.location)
        if variable is not None:
            problem = self._main.places.problem(finding)
            return replace(problem, file=variable, line=0, column=0)
        places, location = self._origin(finding.location)
        if finding.first is not None:
            first, there = self._origin(finding.first)
            message = f"{finding.message}, first at {first.place(there)}"
            finding = replace(finding, message=message)
        return places.problem(replace(finding, location=location))

    def _origin(self, location: Location) -> tuple[Places, Location]:
        """The file that a location in the whole stands in, and the same location as seen from there."""
        for joined, stretches in self._stretches.items():
            depth = len(joined)
            if location[:depth] != joined or len(location) == depth:
                continue
            at = location[depth]
            if isinstance(at, int):
                index = bisect_right(stretches, at, key=lambda stretch: stretch.begin) - 1
                own = at - stretches[index].begin
                return stretches[index].part.places, (*joined, own, *location[depth + 1 :])
        return self._main.places, location

    def _seen_from_the_whole(self, part: Part, location: Location) -> Location | None:
        for joined, stretches in self._stretches.items():
            depth = len(joined)
            at = location[depth] if location[:depth] == joined and len(location) > depth else None
            if isinstance(at, int):
                begin = next(each.begin for each in stretches if each.part is part)
                return (*joined, begin + at, *location[depth + 1 :])
        return location if part is self._main else None


def _at(values: Value, location: Location) -> Value:
    for key in location:
        values = values.get(str(key)) if isinstance(values, dict) else None
    return values


def _put(values: Value, location: Location, joined: Value) -> None:
    """Put a joined list into the whole, and leave the main part's own values as they are."""
    if not isinstance(values, dict):
        return
    key, *below = map(str, location)
    if not below:
        values[key] = joined
        return
    own = values.get(key)
    if own is None or isinstance(own, dict):
        values[key] = inner = dict(own or {})
        _put(inner, tuple(below), joined)
