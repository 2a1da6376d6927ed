"""The registry in force, and how another one takes its place: whole, or not at all."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.config.changes import registry_changes, settings_changes
from service.config.configuration import Configuration, collector_paused
from service.config.problem import CannotServe, ConfigError
from service.events.event import Emit
from service.events.operations import RegistryReloaded, RegistryReloadRefused
from service.model.registry import Registry

TURN = 0.0002
"""Seconds for which a thread works before another one may; a request would feel Python's own 5 ms."""


@contextmanager
def short_turns() -> Generator[None]:
    """Let other threads work as soon as they want to, for the price of more switching."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(TURN)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


class RefusedReload(msgspec.Struct, frozen=True):
    """A reload that was refused, and why."""

    at: int
    problems: tuple[str, ...]


class ReloadableRegistry:
    """The registry of a configuration file; SIGHUP and --watch reload it."""

    def __init__(
        self,
        configuration: Configuration,
        *,
        read: Callable[[], Configuration],
        emit: Emit,
    ) -> None:
        """Take the configuration of the start, and what reads it again, which raises ConfigError."""
        self._configuration = configuration
        self.current = configuration.registry
        """The registry for the next request; an attribute, because every request reads it many times."""
        self.files = configuration.files
        """The files that were read last, by a successful reload or a refused one."""
        self.loaded_at = clock()
        """When the registry in force was read; seconds since the epoch."""
        self.refused: RefusedReload | None = None
        """The last reload that was refused."""
        self.need_restart: tuple[str, ...] = ()
        """The settings that the last reload has read and that count from the next start on."""
        self._read = read
        self._emit = emit
        self.prepare: Callable[[Configuration], None] = lambda _: None
        """Makes what depends on the next configuration; its CannotServe keeps the present one."""

    @short_turns()
    @collector_paused()
    def reload(self, read_others: Callable[[], Sequence[Callable[[], None]]] = tuple) -> bool:
        """Read all files again, and return whether their registry is used now; it blocks its thread.

        `read_others` reads other files and returns what lets them count; its CannotServe keeps the present registry, too.
        """
        try:
            read = self._read()
            self.files = read.files
            try:
                others = read_others()
                self.prepare(read)
            except CannotServe as error:
                problem = read.problem(error.finding)
                raise ConfigError([problem], read.files) from error
        except ConfigError as error:
            self.files = error.files or self.files  # none from a process that ended early
            problems = tuple(str(problem) for problem in error.problems)
            self.refused = RefusedReload(clock(), problems)
            self._emit(RegistryReloadRefused(problems=problems))
            return False
        for let_count in others:
            let_count()
        before, self.current = self.current, _keep_unchanged(self.current, read.registry)
        self.loaded_at, self.need_restart = clock(), (*settings_changes(self._configuration, read),)
        self._emit(
            RegistryReloaded(
                generation=self.current.generation,
                changes=tuple(registry_changes(before, self.current)),
                need_restart=self.need_restart,
            )
        )
        return True


def _keep_unchanged(before: Registry, after: Registry) -> Registry:
    """Return the new registry with the objects of the old one for clients and users that are the same.

    So the memory that workers share stays shared, and the collector finds next to nothing new to look at.
    """
    clients = {
        client_id: known if (known := before.clients.get(client_id)) == client else client
        for client_id, client in after.clients.items()
    }
    users = before.users if before.users == after.users else after.users
    return replace(after, clients=clients, users=users)
