"""The times at which a key is announced, in use, retired and gone; the record that the keys are kept in; the errors about them.

The names speak of signing; a key that decrypts goes the same way, its use being to be encrypted to.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import msgspec
from msgspec.structs import replace

from service.keys.algorithms import ENCRYPTION_ALGORITHMS
from service.store.keyvalue import KeyValue
from service.store.records import Encoding

FOLLOW_EVERY = 4
"""Seconds between two looks at the keys; a change by an operator counts everywhere within ten."""

LEAD = FOLLOW_EVERY + 2
"""Seconds for which every replica publishes a key that is to sign at once, before one signs with it."""

LATE_SIGNATURES = 60
"""Seconds that a replica may sign on after a key was retired: until its next look, and by its clock."""


class SigningKey(msgspec.Struct, frozen=True, kw_only=True):
    """One key: announced, then signing, then retired; times are seconds since the epoch."""

    kid: str
    alg: str
    announced_at: int
    """When it was first published in the JWKS."""
    sign_from: int
    """When it begins to sign, unless it is rotated or retired by hand before."""
    retired_at: int | None
    """When it stopped signing; it stays published for some time."""
    sealed: str
    """The private JWK, encrypted with the configured key; empty for a key of a file."""

    def is_retired(self, now: int) -> bool:
        return self.retired_at is not None and self.retired_at <= now


class KeyRecord(msgspec.Struct, frozen=True, kw_only=True):
    """All signing keys, in the one record of the store that never expires."""

    keys: tuple[SigningKey, ...]


RECORD = Encoding("keys", KeyRecord)


Keys = tuple[SigningKey, ...]
KeyState = Literal["announced", "signing", "decrypting", "retired"]


class RotationPolicy(msgspec.Struct, frozen=True, kw_only=True):
    """The algorithms that need keys, and the seconds that each stage of a key lasts."""

    algorithms: tuple[str, ...]
    rotate_every: int
    announce_before: int
    retire_after: int
    longest_token: int
    """The longest lifetime of any token that is signed."""

    @property
    def kept_after(self) -> int:
        """Seconds for which a retired key stays published: not less than the last token it signed can live."""
        return max(self.retire_after, self.longest_token + LATE_SIGNATURES)

    def is_gone(self, key: SigningKey, now: int) -> bool:
        """Whether no live token can need the key any more."""
        return key.retired_at is not None and key.retired_at + self.kept_after <= now


def find_signing_key(keys: Iterable[SigningKey], alg: str, now: int) -> SigningKey | None:
    """Return the key that signs: the latest that has begun, or else one that was to sign as soon as it was there.

    Such a one may begin later by this replica's clock than by that of the replica which made it.
    """
    usable = [key for key in keys if key.alg == alg and not key.is_retired(now)]
    begun = [key for key in usable if key.sign_from <= now]
    if begun:
        return max(begun, key=_by_age)
    at_once = [key for key in usable if key.sign_from <= key.announced_at]
    return min(at_once, default=None, key=_by_age)


def name_state(key: SigningKey, keys: Keys, now: int) -> KeyState:
    """Return the stage that one of these keys is in."""
    if key is find_signing_key(keys, key.alg, now):
        return "decrypting" if key.alg in ENCRYPTION_ALGORITHMS else "signing"
    return "announced" if key.sign_from > now and not key.is_retired(now) else "retired"


def find_current_keys(keys: Iterable[SigningKey], algorithms: Iterable[str], now: int) -> Keys:
    """Return the keys in use: one for each algorithm that has any."""
    found = (find_signing_key(keys, alg, now) for alg in algorithms)
    return tuple(key for key in found if key is not None)


def find_successor(keys: Iterable[SigningKey], alg: str, now: int) -> SigningKey | None:
    """Return the key that is announced and will sign next."""
    current = find_signing_key(keys, alg, now)
    waiting = [key for key in keys if key.alg == alg and key.sign_from > now]
    waiting = [key for key in waiting if key is not current and not key.is_retired(now)]
    return min(waiting, default=None, key=_by_age)


def retire_keys(keys: Keys, policy: RotationPolicy, now: int) -> Keys:
    """Return the keys with those retired whose successor signs, and without those that are gone."""
    return tuple(
        replace(key, retired_at=now) if _is_over(key, keys, policy, now) else key
        for key in keys
        if not policy.is_gone(key, now)
    )


def keys_to_make(keys: Keys, policy: RotationPolicy, now: int) -> dict[str, int]:
    """Return the algorithms that need a key now, and when it signs: the first keys at once, others are announced before.

    The first key of an algorithm that was added later is published by every replica before it signs; one to encrypt to
    verifies nothing, and is published where it is made.
    """
    missing: dict[str, int] = {}
    for alg in policy.algorithms:
        if find_successor(keys, alg, now) is not None:
            continue
        current, announce_before = find_signing_key(keys, alg, now), policy.announce_before
        if current is None:
            waits = bool(keys) and alg not in ENCRYPTION_ALGORITHMS
            missing[alg] = now + LEAD if waits else now
        elif now >= (over := current.sign_from + policy.rotate_every) - announce_before:
            missing[alg] = max(over, now + announce_before)
    return missing


def _is_over(key: SigningKey, keys: Keys, policy: RotationPolicy, now: int) -> bool:
    """Whether another key signs in its place, or its algorithm is no longer configured."""
    if key.retired_at is not None:
        return False
    if key is not find_signing_key(keys, key.alg, now):
        return key.sign_from <= now
    return key.alg not in policy.algorithms and key.sign_from + policy.rotate_every <= now


def _by_age(key: SigningKey) -> tuple[int, str]:
    return key.sign_from, key.kid


class KeyFileError(Exception):
    """A key file cannot be used; the message names it and says why, and shows nothing of its content."""


class KeysUnreadable(Exception):
    """The store holds keys that this process cannot use, and therefore must not change."""


class CannotChangeKeys(Exception):
    """An operator's change to the keys is not possible; the message says why."""


def name_record(prefix: str) -> str:
    """Return the name of the record in the store."""
    return f"{prefix}:keys"


async def read_record(kv: KeyValue, prefix: str) -> tuple[bytes | None, Keys]:
    """Return the record as it is in the store, and the keys in it; KeysUnreadable if it cannot be understood."""
    value = await kv.get(name_record(prefix))
    if value is None:
        return None, ()
    try:
        return value, RECORD.decode(value).keys
    except ValueError as error:
        raise KeysUnreadable("the record in the store is of no known version") from error
