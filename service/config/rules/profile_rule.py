"""A rule of a profile: what it says, who checks it, and what enforces it."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec

from service.config.problem import Finding
from service.config.schema.file import ConfigurationFile
from service.model.client_entry import ClientEntry


class Rule(msgspec.Struct, frozen=True, kw_only=True):
    """A demand of one or more profiles."""

    name: str
    says: str
    """With its place in the specification."""
    profiles: frozenset[str]
    of_client: Callable[[ClientEntry], Iterable[Finding]] | None = None
    of_file: Callable[[ConfigurationFile, Iterable[ClientEntry]], Iterable[Finding]] | None = None
    whole_registry: bool = False
    """Whether it is for `check --profile` only."""
    enforced: tuple[str, ...] = ()
    """The files that enforce it at run time."""
