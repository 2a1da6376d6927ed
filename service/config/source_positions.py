"""Where stands what can be judged only when it is made, long after the file has been let go?"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from service.config.problem import Finding, Location, Problem
from service.config.schema.file import ConfigurationFile

_SECTIONS: tuple[Location, ...] = ((), ("server", "tls"), ("signing", "keys"), ("users", "source"))


@dataclass(frozen=True, slots=True)
class Landmarks:
    """The few places of a file that are kept: the whole of it takes too much memory."""

    _kept: Mapping[Location, Problem]
    """At each location a problem whose words are still to come."""

    @classmethod
    def of(cls, file: ConfigurationFile, problem: Callable[[Finding], Problem]) -> Landmarks:
        """Keep the places of all that runs code of the operator, or reads files again."""
        handlers = [("extension_grants", at, "handler") for at in range(len(file.extension_grants))]
        return cls({each: problem(Finding(each, "")) for each in (*_SECTIONS, *handlers)})

    def problem(self, finding: Finding) -> Problem:
        """The finding at its place, or at the nearest one above it that was kept."""
        at = finding.location
        while at not in self._kept:
            at = at[:-1]
        return replace(
            self._kept[at], message=finding.message, hint=finding.hint, severity=finding.severity
        )
