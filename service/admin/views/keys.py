"""Shows the keys of the service: those that sign and decrypt, those that will, those that have, and those of a server before."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal

import msgspec

from service.admin.views.page import Page
from service.clock import clock, time_of
from service.keys.algorithms import ENCRYPTION_ALGORITHMS
from service.keys.key_source import KeySource
from service.keys.schedule import KeyState, SigningKey, name_state
from service.keys.verify_only import VerifyOnlyKey


class KeyView(msgspec.Struct, frozen=True, kw_only=True):
    """A key, of which only the id is shown; the public half is in the JWKS."""

    kid: str
    alg: str
    use: Literal["sig", "enc"]
    state: KeyState | Literal["verify_only"]
    announced_at: datetime | None = None
    used_from: datetime | None = None
    retired_at: datetime | None = None
    published_until: datetime | None = None
    """When it leaves the JWKS; None as long as it has not retired."""
    usable: bool = True
    """Whether this replica can decrypt it (`signing.encryption_key`)."""


def show_keys(source: KeySource) -> Page[KeyView]:
    """Return all keys, by algorithm and age; there are a few."""
    keys = sorted(source.keys, key=lambda key: (key.alg, key.sign_from))
    now = clock()
    others = (one for one in source.verify_only.keys if now < one.until)
    return Page(items=(*_show_own(source, keys, now), *map(_show_foreign, others)))


def _show_own(source: KeySource, keys: list[SigningKey], now: int) -> Iterator[KeyView]:
    kept_after = source.policy().kept_after
    for key in keys:
        retired_at = key.retired_at
        yield KeyView(
            kid=key.kid,
            alg=key.alg,
            use="enc" if key.alg in ENCRYPTION_ALGORITHMS else "sig",
            state=name_state(key, tuple(keys), now),
            announced_at=_time_or_none(key.announced_at),
            used_from=_time_or_none(key.sign_from),
            retired_at=_time_or_none(retired_at),
            published_until=_time_or_none(retired_at and retired_at + kept_after),
            usable=source.can_open(key),
        )


def _show_foreign(other: VerifyOnlyKey) -> KeyView:
    key, until = other.key, time_of(other.until)
    return KeyView(kid=key.kid, alg=key.alg, use="sig", state="verify_only", published_until=until)


def _time_or_none(at: int | None) -> datetime | None:
    """Return the time; None also for 0, which a key of a file has that names none."""
    return time_of(at) if at else None
