"""The service's keys in the store: made, rotated and followed by every replica, changed by compare-and-swap."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import msgspec
import orjson
import structlog
from msgspec.structs import replace

from service.config.schema.server import VerifyOnly
from service.events.event import Emit, Event
from service.events.operations import KeyAnnounced, KeyRetired, KeyRotated
from service.keys import schedule
from service.keys.jose import Key
from service.keys.keyring import KeyRing
from service.keys.schedule import (
    RECORD,
    CannotChangeKeys,
    KeyRecord,
    Keys,
    KeysUnreadable,
    RotationPolicy,
    SigningKey,
    name_record,
    read_record,
)
from service.keys.sealing import Seal, Unreadable
from service.keys.verify_only import VerifyOnlyKeys, current
from service.store.keyvalue import KeyValue, StoreUnavailable

_GONE = "the store has lost the signing keys, and new ones are made: restore the backup (docs/operations/redis.md), or everybody signs in again"

log = structlog.stdlib.get_logger(__name__)

Change = Callable[[Keys, int], Awaitable[Keys]]
"""Computes the new keys from the present ones and the time."""


class StoredKeys(msgspec.Struct, kw_only=True):
    """Keeps the ring in step with the store's one record of keys, and the record in step with the schedule."""

    ring: KeyRing
    kv: KeyValue
    prefix: str
    seal: Seal
    policy: Callable[[], RotationPolicy]
    """Called each time, because a reload may change how long a token lives."""
    now: Callable[[], int]
    emit: Emit
    verify_only: VerifyOnlyKeys = msgspec.field(default_factory=VerifyOnlyKeys)
    _keys: Keys = ()
    _opened: dict[str, Key | None] = msgspec.field(default_factory=dict[str, "Key | None"])
    """By key id, what this process has made or opened once; None if that is not possible."""
    _trouble: str | None = None

    @property
    def keys(self) -> Keys:
        """All keys of the record, as this process has read it last."""
        return self._keys

    def can_open(self, key: SigningKey) -> bool:
        """Return whether this process can decrypt a key of the record."""
        return self._opened.get(key.kid) is not None

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
        _, self._keys = await read_record(self.kv, self.prefix)
        await self._open_all(self._keys)
        self._fill_ring()

    def read_files(self, verify_only: Sequence[VerifyOnly]) -> None:
        """Read only the keys of the server before: those that sign are in the store."""
        self.verify_only.read_files(verify_only)

    async def rotate(self, *, at_once: bool) -> Keys:
        """Announce a successor for every algorithm, unless one is announced already.

        `at_once` lets it sign as soon as every replica publishes it.
        """

        async def add_successors(keys: Keys, now: int) -> Keys:
            if not keys:
                reason = "there are no keys yet: the service makes them when it first starts"
                raise CannotChangeKeys(reason)
            lead = schedule.LEAD if at_once else self.policy().announce_before
            for alg in self.policy().algorithms:
                keys = await self._add_successor(keys, now, alg=alg, sign_from=now + lead)
            return keys

        return await self.change(add_successors)

    async def retire(self, kid: str) -> Keys:
        """Take a key out of use; a key that signs stops when its successor begins, which is soon."""

        async def take_out(keys: Keys, now: int) -> Keys:
            key = next((key for key in keys if key.kid == kid), None)
            if key is None:
                raise CannotChangeKeys(f"no key has the key id {kid}")
            alg = key.alg
            if key.retired_at is not None:
                raise CannotChangeKeys(f"the key {kid} is retired already")
            if key is schedule.find_signing_key(keys, alg, now) and alg in self.policy().algorithms:
                return await self._add_successor(keys, now, alg=alg, sign_from=now + schedule.LEAD)
            return tuple(replace(key, retired_at=now) if each is key else each for each in keys)

        return await self.change(take_out)

    async def _add_successor(self, keys: Keys, now: int, *, alg: str, sign_from: int) -> Keys:
        """Add a key for the algorithm that begins to sign then, or let the one that is announced begin."""
        waiting = schedule.find_successor(keys, alg, now)
        if waiting is None:
            return (*keys, await self._make(alg, sign_from=sign_from, now=now))
        sooner = replace(waiting, sign_from=min(waiting.sign_from, sign_from))
        return tuple(sooner if key is waiting else key for key in keys)

    async def change(self, change: Change) -> Keys:
        """Make one change to the record; if another replica was faster, again from what it wrote."""
        while True:
            old, keys = await read_record(self.kv, self.prefix)
            if old is None and self._keys:
                # Nothing is put back: with the keys, the marks of revoked tokens are gone.
                log.warning(_GONE, kids=[key.kid for key in self._keys])
            await self._open_all(keys)
            now, self._keys = self.now(), keys
            self._require_usable(now)
            changed = await change(keys, now)
            if changed == keys:
                return keys
            if old is not None and RECORD.is_newer(old):
                raise KeysUnreadable("a newer release has written them; its replicas change them")
            new = RECORD.encode(KeyRecord(keys=changed))
            if await self.kv.replace(name_record(self.prefix), old=old, new=new):
                self._keys = changed
                for event in _events(keys, changed, now):
                    self.emit(event)
                return changed

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
        kept = schedule.retire_keys(keys, policy, now)
        made = [
            await self._make(alg, sign_from=sign_from, now=now)
            for alg, sign_from in schedule.keys_to_make(kept, policy, now).items()
        ]
        return (*kept, *made)

    async def _renew_seals(self, keys: Keys, now: int) -> Keys:
        return tuple(replace(key, sealed=self.seal.renew(key.sealed)) for key in keys)

    def _require_usable(self, now: int) -> None:
        """Refuse to rotate keys that other replicas can use and this process cannot."""
        for key in schedule.find_current_keys(self._keys, self.policy().algorithms, now):
            if not self._find_opened([key]):
                reason = f"no configured encryption key opens the {key.alg} key {key.kid}"
                raise KeysUnreadable(reason)

    async def _open_all(self, keys: Keys) -> None:
        """Open those of the keys that are new here, and forget all others."""
        opened = {key.kid: self._opened.get(key.kid) for key in keys}
        for key in keys:
            if key.kid not in self._opened:  # RSA takes a tenth of a second
                opened[key.kid] = await asyncio.to_thread(self._open, key)
        self._opened = opened

    def _find_opened(self, keys: Iterable[SigningKey]) -> list[Key]:
        return [found for key in keys if (found := self._opened.get(key.kid)) is not None]

    async def _make(self, alg: str, *, sign_from: int, now: int) -> SigningKey:
        key = await asyncio.to_thread(Key.generate, alg)
        self._opened[key.kid] = key
        sealed = self.seal.seal_text(orjson.dumps({**key.private_jwk, "alg": alg}).decode())
        return SigningKey(
            kid=key.kid,
            alg=alg,
            announced_at=now,
            sign_from=sign_from,
            retired_at=None,
            sealed=sealed,
        )

    def _open(self, key: SigningKey) -> Key | None:
        """Return the key, or None if it cannot be opened or was sealed in the place of another key."""
        with suppress(Unreadable, ValueError):
            content = orjson.loads(self.seal.open_text(key.sealed))
            opened = Key.load(content, key.alg, is_own=True)
            if (content["alg"], opened.kid) == (key.alg, key.kid):
                return opened
        log.warning("a signing key cannot be decrypted", kid=key.kid, alg=key.alg)
        return None

    def _fill_ring(self) -> None:
        now, policy = self.now(), self.policy()
        held = [key for key in self._keys if not policy.is_gone(key, now)]
        self.ring.replace(
            in_use=self._find_opened(
                schedule.find_current_keys(self._keys, policy.algorithms, now)
            ),
            held=self._find_opened(held),
            since={key.kid: key.sign_from for key in held},
            verify_only=current(self.verify_only.keys, now),
        )


def _events(before: Keys, after: Keys, now: int) -> Iterator[Event]:
    known = {key.kid: key for key in before}
    for key in after:
        if key.kid not in known:
            yield KeyAnnounced(kid=key.kid, alg=key.alg, sign_from=key.sign_from)
        elif key.retired_at is not None and known[key.kid].retired_at is None:
            yield KeyRetired(kid=key.kid, alg=key.alg)
            current = schedule.find_signing_key(after, key.alg, now)
            if current is not None and current.sign_from > key.sign_from:
                yield KeyRotated(kid=current.kid, alg=key.alg, predecessor=key.kid)
