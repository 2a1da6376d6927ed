"""All settings of one start: the sections of config.yaml, and the registry, which a reload replaces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import urlsplit

from service.config.problem import Finding, Location, Problem
from service.config.reading.files import FilesRead
from service.config.rules.uris import is_loopback
from service.config.schema.file import ConfigurationFile, Registration, Ui
from service.config.schema.server import Limits, Outgoing, Server, Session, Signing, Store
from service.model.catalogue import Catalogue
from service.model.registry import Registry

_KEPT_POSITIONS: tuple[Location, ...] = (
    (),
    ("server", "tls"),
    ("signing", "keys"),
    ("users", "source"),
)


@dataclass(frozen=True, slots=True)
class SourcePositions:
    """The places of settings that run code of the operator or read files; all places would take too much memory."""

    _kept: Mapping[Location, Problem]
    """A problem without a message for each place."""

    @classmethod
    def of(cls, file: ConfigurationFile, problem: Callable[[Finding], Problem]) -> SourcePositions:
        """Keep the places of a file."""
        handlers = [("extension_grants", at, "handler") for at in range(len(file.extension_grants))]
        return cls({each: problem(Finding(each, "")) for each in (*_KEPT_POSITIONS, *handlers)})

    def problem(self, finding: Finding) -> Problem:
        """Return the finding at its place, or at the nearest one above it that was kept."""
        at = finding.location
        while at not in self._kept:
            at = at[:-1]
        return replace(
            self._kept[at], message=finding.message, hint=finding.hint, severity=finding.severity
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """The checked content of config.yaml."""

    file: Path
    files: FilesRead = field(compare=False)
    """All files that it was read from."""
    catalogue: Catalogue = field(compare=False)
    """What this version supports."""
    issuer: str
    server: Server
    store: Store
    signing: Signing
    session: Session
    limits: Limits
    pairwise_salt: str | None = field(repr=False)
    outgoing: Outgoing
    registration: Registration
    ui: Ui
    registry: Registry
    warnings: tuple[Problem, ...]
    source_positions: SourcePositions = field(compare=False, repr=False)

    @property
    def is_development(self) -> bool:
        """Return whether only a developer can use this service: on this machine, with no real store."""
        host = urlsplit(self.issuer).hostname or ""
        return self.store.url.startswith("memory:") and is_loopback(host)


NEEDS_RESTART = (
    *("issuer", "server", "store", "signing", "session", "limits", "pairwise_salt"),
    *("outgoing", "registration", "ui"),
)
"""The settings that a reload cannot change."""
