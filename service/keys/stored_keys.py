"""The service's keys in the store: made, rotated and followed by every replica, changed by compare-and-swap."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace

import structlog

from service.keys.keyring import KeyRing
from service.keys.schedule import (
    Keys,
    RotationPolicy,
    find_current_keys,
    find_signing_key,
    keys_to_make,
    retire_keys,
)
from service.keys.sealing import Vault
from service.model.events import Emit, KeyAnnounced, KeyRetired, KeyRotated
from service.model.signing_key import KeyRecord
from service.store.keyvalue import KeyValue, StoreUnavailable
from service.store.records import Encoding

log = structlog.stdlib.get_logger(__name__)

RECORD = Encoding("keys", KeyRecord)

Change = Callable[[Keys, int], Awaitable[Keys]]
"""Computes the new keys from the present ones and the time."""


class KeysUnreadable(Exception):
    """The store holds keys that this process cannot use, and therefore must not change."""


@dataclass(kw_only=True)
class StoredKeys:
    """Keeps the ring in step with the store's one record of keys, and the record in step with the schedule."""

    ring: KeyRing
    kv: KeyValue
    prefix: str
    vault: Vault
    policy: Callable[[], RotationPolicy]
    """Called each time, because a reload may change how long a token lives."""
    now: Callable[[], int]
    emit: Emit
    _keys: Keys = field(default=(), init=False)
    _trouble: str | None = field(default=None, init=False)

    async def start(self) -> None:
        """Read or make the keys, and seal all of them with the first encryption key."""
        await self._try(self._renew_seals)
        await self.refresh()

    async def refresh(self) -> None:
        """Apply the schedule and follow other replicas; if that is not possible, keep the present keys."""
        await self._try(self._apply_schedule)
        self._fill_ring()

    async def load(self) -> None:
        """Read the keys and change nothing; KeysUnreadable if the record cannot be understood."""
        _, self._keys = await self.read()
        await self.vault.open_all(self._keys)
        self._fill_ring()

    def read_files(self) -> None:
        """Do nothing: the operator's files are another source."""

    async def change(self, change: Change) -> Keys:
        """Make one change to the record; if another replica was faster, again from what it wrote."""
        while True:
            old, keys = await self.read()
            await self.vault.open_all(keys)
            now, self._keys = self.now(), keys
            self._require_usable(now)
            changed = await change(keys, now)
            if changed == keys:
                return keys
            if old is not None and RECORD.is_newer(old):
                raise KeysUnreadable("a newer release has written them; its replicas change them")
            new = RECORD.encode(KeyRecord(keys=changed))
            if await self.kv.replace(self._key, old=old, new=new):
                self._keys = changed
                for event in _events(keys, changed, now):
                    self.emit(event)
                return changed

    async def read(self) -> tuple[bytes | None, Keys]:
        """Return the record as it is in the store, and the keys in it."""
        value = await self.kv.get(self._key)
        if value is None:
            return None, ()
        try:
            return value, RECORD.decode(value).keys
        except ValueError as error:
            raise KeysUnreadable("the record in the store is of no known version") from error

    @property
    def _key(self) -> str:
        return f"{self.prefix}:keys"

    async def _try(self, change: Change) -> None:
        """Make the change if that is possible, and log once if it is not."""
        trouble = None
        try:
            await self.change(change)
        except StoreUnavailable:
            trouble = "the store cannot be reached"
        except KeysUnreadable as error:
            trouble = str(error)
        if trouble not in (None, self._trouble):
            log.warning("signing keys stay as they are", reason=trouble)
        self._trouble = trouble

    async def _apply_schedule(self, keys: Keys, now: int) -> Keys:
        policy = self.policy()
        kept = retire_keys(keys, policy, now)
        made = [
            await self.vault.make(alg, sign_from=sign_from, now=now)
            for alg, sign_from in keys_to_make(kept, policy, now).items()
        ]
        return (*kept, *made)

    async def _renew_seals(self, keys: Keys, now: int) -> Keys:
        return tuple(replace(key, sealed=self.vault.renew_seal(key)) for key in keys)

    def _require_usable(self, now: int) -> None:
        """Refuse to rotate keys that other replicas can use and this process cannot."""
        for key in find_current_keys(self._keys, self.policy().algorithms, now):
            if not self.vault.can_use(key):
                reason = f"no configured encryption key opens the {key.alg} key {key.kid}"
                raise KeysUnreadable(reason)

    def _fill_ring(self) -> None:
        now, policy = self.now(), self.policy()
        held = [key for key in self._keys if not policy.is_gone(key, now)]
        self.ring.replace(
            in_use=self.vault.find_opened(find_current_keys(self._keys, policy.algorithms, now)),
            held=self.vault.find_opened(held),
            since={key.kid: key.sign_from for key in held},
        )


def _events(
    before: Keys, after: Keys, now: int
) -> Iterator[KeyAnnounced | KeyRetired | KeyRotated]:
    """Compare two states of the record."""
    known = {key.kid: key for key in before}
    for key in after:
        if key.kid not in known:
            yield KeyAnnounced(kid=key.kid, alg=key.alg, sign_from=key.sign_from)
        elif key.retired_at is not None and known[key.kid].retired_at is None:
            yield KeyRetired(kid=key.kid, alg=key.alg)
            current = find_signing_key(after, key.alg, now)
            if current is not None and current.sign_from > key.sign_from:
                yield KeyRotated(kid=current.kid, alg=key.alg, predecessor=key.kid)
