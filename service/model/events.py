"""Events of the service itself, and how code emits events; an event never holds a credential."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass

import msgspec

Emit = Callable[[object], None]
"""Emits an event to all listeners; it never fails and never waits."""

current_request_id: ContextVar[str | None] = ContextVar("request_id", default=None)
"""The id of the request that is being answered, if there is one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyAnnounced:
    """A new signing key is published, and signs from `sign_from` on."""

    kid: str
    alg: str
    sign_from: int


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRotated:
    """A signing key signs instead of its predecessor."""

    kid: str
    alg: str
    predecessor: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyRetired:
    """A signing key stopped signing; it stays published until its last token has expired."""

    kid: str
    alg: str


class RequestAnswered(msgspec.Struct, frozen=True, kw_only=True):
    """A request was answered; `endpoint` is the path of its route, never the path that was sent."""

    method: str
    endpoint: str
    status: int
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryReloaded:
    """A new registry is in force; each change is a line as `diff` prints it."""

    generation: str
    changes: tuple[str, ...]
    need_restart: tuple[str, ...]
    """Changed settings that need a restart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryReloadRefused:
    """The new registry has errors; the old one stays in force."""

    problems: tuple[str, ...]
