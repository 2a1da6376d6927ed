"""Opens the place that users come from: the configuration file, another system, or the operator's own class."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib import import_module
from typing import Protocol, cast

import msgspec

from service.config import plugins
from service.config.problem import CannotServe, Finding
from service.config.schema.file import ConfigurationFile
from service.config.schema.users import SOURCES, Users
from service.distribution import how_to_install
from service.events.timings import EmitTiming
from service.identity.users import Directory, FileUsers
from service.keys.sealing import Seal
from service.model.outgoing import ClientCertificate, HttpClient
from service.model.registry import LiveRegistry
from service.model.user import UserStore
from service.store.stores import Stores

_SOURCE = ("users", "source")


class Tools(msgspec.Struct, frozen=True, kw_only=True):
    """The parts of the service that a source may need."""

    registry: LiveRegistry
    open_http: Callable[[ClientCertificate | None], HttpClient]
    """Returns the HTTP client for URLs of the configuration, which shows this certificate."""
    stores: Stores
    seal: Seal
    timed: EmitTiming


class SourceModule(Protocol):
    """A module of the table `SOURCES`."""

    def find_problems(self, settings: Users) -> Iterator[Finding]:
        """Yield what `check` can know to be wrong without asking the other system."""
        ...

    def open_source(self, settings: Users, tools: Tools) -> UserStore:
        """Return the store, which connects when it is first used."""
        ...


def open_users(settings: Users, tools: Tools) -> Directory:
    """Return the users of the configured source; CannotServe if it cannot be made."""
    if settings.source == "file":
        return FileUsers(tools.registry, sign_in_by_email=settings.sign_in_by_email)
    from service.identity.sources import last_seen, outside  # noqa: PLC0415 - not for users of the file

    seen = last_seen.LastSeen(stores=tools.stores, seal=tools.seal, grace=settings.grace)
    return outside.OutsideUsers(_open(settings, tools), settings, seen, timed=tools.timed)


def _open(settings: Users, tools: Tools) -> UserStore:
    if settings.source not in SOURCES:
        return _make_own(settings.source)
    for problem in find_problems(settings):
        if problem.severity == "error":
            raise CannotServe(problem)
    return _import(settings.source).open_source(settings, tools)


def find_problems(settings: Users) -> Iterator[Finding]:
    """Yield the problems of the source in use, for `check`, start and reload."""
    name = settings.source
    if name not in SOURCES:
        return
    try:
        module = _import(name)
    except ModuleNotFoundError as error:
        yield missing_extra(name, error)
        return
    yield from module.find_problems(settings)


def users_can_be_asked(file: ConfigurationFile) -> Iterator[Finding]:
    """The packages of users.source are installed, and its settings are complete."""
    return find_problems(file.users)


def missing_extra(name: str, error: ModuleNotFoundError) -> Finding:
    """Return the finding that a source needs a package that is not installed."""
    message = f"{name} needs the package {error.name}, which is not installed"
    return Finding(_SOURCE, message, how_to_install(name))


def _import(name: str) -> SourceModule:
    return cast("SourceModule", import_module(SOURCES[name]))


def _make_own(name: str) -> UserStore:
    """Return the operator's own store, made once without arguments."""
    return cast("UserStore", plugins.make_plugin(name, _SOURCE, plugins.USER_STORE))
