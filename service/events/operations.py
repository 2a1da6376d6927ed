"""Events of signing keys and of the registry."""

from __future__ import annotations

from service.events.event import Event, EventCounter


class KeyAnnounced(Event, frozen=True, kw_only=True):
    """A new signing key was published."""

    counter = EventCounter("keys_announced", "New signing keys.")
    kid: str
    alg: str
    sign_from: int


class KeyRotated(Event, frozen=True, kw_only=True):
    """A key began to sign in place of its predecessor."""

    counter = EventCounter("keys_rotated", "Signing keys that took over.")
    kid: str
    alg: str
    predecessor: str


class KeyRetired(Event, frozen=True, kw_only=True):
    """A key stopped signing."""

    counter = EventCounter("keys_retired", "Signing keys that stopped.")
    kid: str
    alg: str


class RegistryReloaded(Event, frozen=True, kw_only=True):
    """Another registry is in force; `changes` are lines as the command `diff` prints them, `need_restart` settings that need a restart."""

    counter = EventCounter("registry_reloads", "Registries put in force.")
    generation: str
    changes: tuple[str, ...]
    need_restart: tuple[str, ...]


class RegistryReloadRefused(Event, frozen=True, kw_only=True):
    """The configuration file has errors; nothing has changed."""

    level = "warning"
    counter = EventCounter(
        "registry_reload_failures",
        "Registries with errors; alert on any. Each worker reads the file: with two, one refused reload counts as 2.",
    )
    problems: tuple[str, ...]
