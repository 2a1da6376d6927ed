"""Shows the settings of a client or an API: all of them, with their defaults, and none that is secret."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime
from typing import Literal, cast

import msgspec

from service.clock import clock, time_of
from service.model.local_text import LocalText
from service.model.secret import Secret

_NAMES_ONLY = "properties"
"""Anything may be in it, so that its values are not shown."""

_LEFT_OUT = frozenset(
    {
        *("client_secrets", "secrets"),
        *("template", "dynamically_registered", "default_signing_alg", "introspection_signing_alg"),
    }
)


class SecretView(msgspec.Struct, frozen=True, kw_only=True):
    """A secret, without anything that could prove or help to guess it."""

    position: int
    """Its place in the list, from 0 on."""
    kind: Literal["sha256", "sha512", "slow_hash", "value"]
    description: str | None
    expires_at: datetime | None
    expired: bool
    last_used: date | None
    """The last day (UTC) on which it was used since uses are noted, which is while `admin` is configured."""


def show_secrets(
    secrets: Sequence[Secret], last_used: Sequence[date | None]
) -> tuple[SecretView, ...]:
    """Return what may be seen of secrets, each with the last day of its use."""
    now = clock()
    return tuple(
        SecretView(
            position=position,
            kind=_kind_of(secret),
            description=secret.description,
            expires_at=None if secret.expires_at is None else time_of(secret.expires_at),
            expired=not secret.is_valid(now),
            last_used=day,
        )
        for position, (secret, day) in enumerate(zip(secrets, last_used, strict=True))
    )


def _kind_of(secret: Secret) -> Literal["sha256", "sha512", "slow_hash", "value"]:
    if secret.value is not None:
        return "value"
    if secret.hash is not None:
        return "slow_hash"
    return "sha256" if secret.sha256 is not None else "sha512"


def show_settings(entry: msgspec.Struct) -> dict[str, object]:
    """Return the keys and values that are in force, by the names that the configuration has for them."""
    names = (name for name in entry.__struct_fields__ if name not in _LEFT_OUT)
    return {name: _show(name, getattr(entry, name)) for name in names}


def _show(name: str, value: object) -> object:
    if name == _NAMES_ONLY:
        return sorted(cast("dict[str, object]", value))
    if isinstance(value, LocalText):
        return dict(value.by_language)
    return msgspec.to_builtins(value, order="deterministic")
