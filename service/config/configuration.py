"""All settings of one start: the sections as they were read, and the registry that a reload replaces."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from service.config.problem import Problem
from service.config.reading.files import FilesRead
from service.config.rules.uris import is_loopback
from service.config.schema.people import Session, Ui
from service.config.schema.registration import Registration
from service.config.schema.server import Limits, Outgoing, Server, Store
from service.config.schema.signing import Signing
from service.config.source_positions import Landmarks
from service.model.catalogue import Catalogue
from service.model.registry import Registry


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What config.yaml says, checked whole."""

    file: Path
    files: FilesRead = field(compare=False)
    """All that it was read from."""
    catalogue: Catalogue = field(compare=False)
    """What the version that read it supports."""
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
    landmarks: Landmarks = field(compare=False, repr=False)
    """The places of what may turn out wrong when it is made."""

    @property
    def is_development(self) -> bool:
        """Return whether only a developer can use this service: on this machine, with no real store."""
        host = urlsplit(self.issuer).hostname or ""
        return self.store.url.startswith("memory:") and is_loopback(host)


NEEDS_RESTART = (
    "issuer",
    "server",
    "store",
    "signing",
    "session",
    "limits",
    "pairwise_salt",
    "outgoing",
    "registration",
    "ui",
)
"""The settings that a reload cannot change."""
