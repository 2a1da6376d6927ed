"""The service's keys in the store: made, rotated and followed by every replica, changed by compare-and-swap."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field, replace

import structlog

from service.keys.keyring import KeyRing
from service.keys.schedule import (
    Keys,
    RotationPolicy,
    current_keys,
    due,
    is_gone,
    settled,
    signing_key,
)
from service.keys.vault import Vault
from service.model.events import KeyAnnounced, KeyRetired, KeyRotated
from service.model.signing_key import KeyRecord
from service.store.encoding import Encoding
from service.store.keyvalue import KeyValue, StoreUnavailable

log = structlog.stdlib.get_logger(__name__)

RECORD = Encoding("keys", KeyRecord)

Step = Callable[[Keys, int], Awaitable[Keys]]
"""What the keys become, from what they are and the time."""


class KeysUnreadable(Exception):
    """The store holds signing keys that this process cannot use, and therefore must not change."""


@dataclass(kw_only=True)
class StoredKeys:
    """Keeps the ring in step with the store's one record of keys, and the record in step with the schedule."""

    ring: KeyRing
    kv: KeyValue
    prefix: str
    vault: Vault
    policy: Callable[[], RotationPolicy]
    """The rules in force; asked each time, because a reload may change how long a token lives."""
    now: Callable[[], int]
    emit: Callable[[object], None]
    _keys: Keys = field(default=(), init=False)
    _trouble: str | None = field(default=None, init=False)

    async def start(self) -> None:
        """Take or make the keys, and put all seals under the first encryption key."""
        await self._try(self._renewed)
        await self.refresh()

    async def refresh(self) -> None:
        """Do what the schedule asks for and follow what others did; in trouble, keep the keys there are."""
        await self._try(self._scheduled)
        self._put_in_force()

    def read_again(self) -> None:
        """Nothing: there is no file, and the store is followed all the time."""

    async def load(self) -> None:
        """Take the keys as they are and change nothing; KeysUnreadable where that cannot be."""
        _, self._keys = await self.read()
        await self.vault.hold(self._keys)
        self._put_in_force()

    def _put_in_force(self) -> None:
        now, policy = self.now(), self.policy()
        held = [key for key in self._keys if not is_gone(key, policy, now)]
        self.ring.replace(
            in_use=self.vault.opened(current_keys(self._keys, policy.algorithms, now)),
            held=self.vault.opened(held),
            since={key.kid: key.sign_from for key in held},
        )

    async def change(self, step: Step) -> Keys:
        """Make one change to the record; who loses a race starts again from what the winner wrote."""
        while True:
            old, keys = await self.read()
            await self.vault.hold(keys)
            now, self._keys = self.now(), keys
            self._require_readable(now)
            changed = await step(keys, now)
            if changed == keys:
                return keys
            if old is not None and RECORD.is_newer(old):
                raise KeysUnreadable("a newer release has written them; its replicas change them")
            if await self.kv.replace(
                self._key, old=old, new=RECORD.encode(KeyRecord(keys=changed))
            ):
                self._keys = changed
                for event in _events(keys, changed, now):
                    self.emit(event)
                return changed

    async def _try(self, step: Step) -> None:
        """Make the change if that is possible; say it once if it is not."""
        trouble = None
        try:
            await self.change(step)
        except StoreUnavailable:
            trouble = "the store cannot be reached"
        except KeysUnreadable as error:
            trouble = str(error)
        if trouble not in (None, self._trouble):
            log.warning("signing keys stay as they are", reason=trouble)
        self._trouble = trouble

    async def _scheduled(self, keys: Keys, now: int) -> Keys:
        policy = self.policy()
        kept = settled(keys, policy, now)
        return (*kept, *[await self.vault.make(wanted, now) for wanted in due(kept, policy, now)])

    async def _renewed(self, keys: Keys, now: int) -> Keys:
        return tuple(replace(key, sealed=self.vault.renew_seal(key)) for key in keys)

    @property
    def _key(self) -> str:
        return f"{self.prefix}:keys"

    async def read(self) -> tuple[bytes | None, Keys]:
        """The record as it is in the store, in its raw form too."""
        value = await self.kv.get(self._key)
        if value is None:
            return None, ()
        try:
            return value, RECORD.decode(value).keys
        except ValueError as error:
            raise KeysUnreadable("the record in the store is of no known version") from error

    def _require_readable(self, now: int) -> None:
        """Refuse to rotate keys that others can use and this process cannot."""
        for key in current_keys(self._keys, self.policy().algorithms, now):
            if self.vault.find(key.kid) is None:
                reason = f"no configured encryption key opens the {key.alg} key {key.kid}"
                raise KeysUnreadable(reason)


def _events(
    before: Keys, after: Keys, now: int
) -> Iterator[KeyAnnounced | KeyRetired | KeyRotated]:
    """What happened between two states of the record."""
    known = {key.kid: key for key in before}
    for key in after:
        if key.kid not in known:
            yield KeyAnnounced(kid=key.kid, alg=key.alg, sign_from=key.sign_from)
        elif key.retired_at is not None and known[key.kid].retired_at is None:
            yield KeyRetired(kid=key.kid, alg=key.alg)
            current = signing_key(after, key.alg, now)
            if current is not None and current.sign_from > key.sign_from:
                yield KeyRotated(kid=current.kid, alg=key.alg, predecessor=key.kid)
