"""Shows which registry is in force, and why the last other one is not."""

from __future__ import annotations

from datetime import datetime

import msgspec

from service.clock import time_of
from service.config.reload import ReloadableRegistry


class RefusedReloadView(msgspec.Struct, frozen=True, kw_only=True):
    """A reload that was refused; an older registry stayed in force."""

    at: datetime
    findings: tuple[str, ...]
    """Each with file, line and column, as `check` prints it."""


class RegistryView(msgspec.Struct, frozen=True, kw_only=True):
    """The registry of the process that answers."""

    generation: str
    """The same in every replica that has read the same."""
    loaded_at: datetime
    files: tuple[str, ...]
    """The files and folders that were read last, by a reload that was refused, too."""
    clients: int
    api_resources: int
    users: int
    """Those of `users.list`."""
    need_restart: tuple[str, ...]
    """Settings that have changed in the files, and count from the next start on."""
    refused: RefusedReloadView | None
    """The last reload that was refused since the start, also where a later one succeeded."""


def show_registry(registry: ReloadableRegistry) -> RegistryView:
    """Return the state of the registry in this process."""
    current, refused = registry.current, registry.refused
    return RegistryView(
        generation=current.generation,
        loaded_at=time_of(registry.loaded_at),
        files=tuple(map(str, registry.files.paths)),
        clients=len(current.clients),
        api_resources=len(current.api_resources),
        users=len(current.users),
        need_restart=registry.need_restart,
        refused=None
        if refused is None
        else RefusedReloadView(at=time_of(refused.at), findings=refused.problems),
    )
