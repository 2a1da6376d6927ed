"""When a key is announced, in use, retired and gone; pure rules over the keys and the time.

To sign is what the words say; a key that decrypts goes the same way, its use being to be encrypted to.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from service.model.signing_key import SigningKey

Keys = tuple[SigningKey, ...]

FOLLOWING = 60
"""Seconds that a replica may sign on after a key was retired: its next look at the store, and its clock."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RotationPolicy:
    """For which algorithms keys are kept, and for how many seconds each stage of a key lasts."""

    algorithms: tuple[str, ...]
    rotate_every: int
    announce_before: int
    retire_after: int
    longest_token: int
    """The longest lifetime of any token that is signed."""

    @property
    def kept_after(self) -> int:
        """How long a retired key stays published: never gone before the last token it signed."""
        return max(self.retire_after, self.longest_token + FOLLOWING)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewKey:
    """A key that has to be made."""

    alg: str
    sign_from: int


def signing_key(keys: Iterable[SigningKey], alg: str, now: int) -> SigningKey | None:
    """The key that signs: the latest that has begun, or else, rather than none, the next announced one."""
    usable = [key for key in keys if key.alg == alg and not key.is_retired(now)]
    begun = [key for key in usable if key.sign_from <= now]
    if begun:
        return max(begun, key=_by_age)
    return min(usable, default=None, key=_by_age)


def current_keys(keys: Iterable[SigningKey], algorithms: Iterable[str], now: int) -> Keys:
    """The keys in use: one for each algorithm that has any."""
    found = (signing_key(keys, alg, now) for alg in algorithms)
    return tuple(key for key in found if key is not None)


def successor(keys: Iterable[SigningKey], alg: str, now: int) -> SigningKey | None:
    """The key that is announced and will sign next."""
    current = signing_key(keys, alg, now)
    waiting = [key for key in keys if key.alg == alg and key.sign_from > now]
    waiting = [key for key in waiting if key is not current and not key.is_retired(now)]
    return min(waiting, default=None, key=_by_age)


def is_gone(key: SigningKey, policy: RotationPolicy, now: int) -> bool:
    """Whether no live token can need it any more."""
    return key.retired_at is not None and key.retired_at + policy.kept_after <= now


def settled(keys: Keys, policy: RotationPolicy, now: int) -> Keys:
    """The keys with those retired whose successor signs, and without those that are gone."""
    return tuple(
        replace(key, retired_at=now) if _is_over(key, keys, policy, now) else key
        for key in keys
        if not is_gone(key, policy, now)
    )


def due(keys: Keys, policy: RotationPolicy, now: int) -> tuple[NewKey, ...]:
    """The keys to make now: the first of an algorithm signs at once, every other is announced before."""
    return tuple(
        NewKey(alg=alg, sign_from=sign_from)
        for alg in policy.algorithms
        if (sign_from := _next_sign_from(keys, alg, policy, now)) is not None
    )


def _next_sign_from(keys: Keys, alg: str, policy: RotationPolicy, now: int) -> int | None:
    current = signing_key(keys, alg, now)
    if current is None:
        return now
    over = current.sign_from + policy.rotate_every
    if successor(keys, alg, now) is not None or now < over - policy.announce_before:
        return None
    return max(over, now + policy.announce_before)


def _is_over(key: SigningKey, keys: Keys, policy: RotationPolicy, now: int) -> bool:
    """Whether it has signed its last: another signs in its place, or its algorithm is no longer wanted."""
    if key.retired_at is not None:
        return False
    if key is not signing_key(keys, key.alg, now):
        return key.sign_from <= now
    return key.alg not in policy.algorithms and key.sign_from + policy.rotate_every <= now


def _by_age(key: SigningKey) -> tuple[int, str]:
    return key.sign_from, key.kid
