"""The registry in force, and how another one takes its place: whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from service.config.changes import registry_changes, settings_changes
from service.config.configuration import Configuration
from service.config.cooperative_steps import collector_paused, giving_way
from service.config.load import load
from service.config.problem import CannotServe, ConfigError
from service.config.reading.files import FilesRead
from service.config.rules.rule import FileRule
from service.model.events import Emit, RegistryReloaded, RegistryReloadRefused
from service.model.registry import Registry


class ReloadableRegistry:
    """The registry of a configuration file, read anew on request (SIGHUP, --watch)."""

    def __init__(
        self,
        configuration: Configuration,
        *,
        environ: Mapping[str, str],
        emit: Emit,
        rules: Iterable[FileRule] = (),
    ) -> None:
        """Take the configuration of the start, and the rules that its file was checked by."""
        self._configuration = configuration
        self.current = configuration.registry
        """What the next request is judged by; an attribute, for every request takes it many times."""
        self._files = configuration.files
        self._environ = environ
        self._emit = emit
        self._rules = rules
        self.prepare: Callable[[Registry], None] = lambda _: None
        """Makes what depends on the next registry; its CannotServe keeps the present one."""

    @property
    def files(self) -> FilesRead:
        """What was read the last time, whether it is in force or was refused."""
        return self._files

    @giving_way()
    @collector_paused()
    def reload(self, check: Callable[[], None] = lambda: None) -> bool:
        """Read all files again; whether their registry is in force now. It blocks, so call it off the event loop.

        `check` is of what is read again beside the registry; its CannotServe keeps the present one, too.
        """
        try:
            catalogue = self._configuration.catalogue
            read = load(self._configuration.file, self._environ, catalogue, self._rules)
            self._files = read.files
            _try(read, check)
            _try(read, lambda: self.prepare(read.registry))
        except ConfigError as error:
            self._files = error.files
            problems = tuple(str(problem) for problem in error.problems)
            self._emit(RegistryReloadRefused(problems=problems))
            return False
        before, self.current = self.current, _with_what_is_kept(self.current, read.registry)
        self._emit(
            RegistryReloaded(
                generation=self.current.generation,
                changes=tuple(registry_changes(before, self.current)),
                need_restart=tuple(settings_changes(self._configuration, read)),
            )
        )
        return True


def _try(read: Configuration, make: Callable[[], None]) -> None:
    """Make what may turn out wrong only then; a ConfigError tells where it stands."""
    try:
        make()
    except CannotServe as error:
        raise ConfigError([read.landmarks.problem(error.finding)], read.files) from error


def _with_what_is_kept(before: Registry, after: Registry) -> Registry:
    """The new registry with the very clients and users of the old one where nothing of them has changed.

    So the memory that workers share stays shared, and the collector finds next to nothing new to look at.
    """
    clients = {
        client_id: known if (known := before.clients.get(client_id)) == client else client
        for client_id, client in after.clients.items()
    }
    users = before.users if before.users == after.users else after.users
    return replace(after, clients=clients, users=users)
