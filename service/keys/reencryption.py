"""Encrypts anew what the store keeps under a retired `signing.encryption_key`, while replicas are running."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import msgspec

from service.keys.schedule import RECORD, name_record
from service.keys.sealing import Seal, Unreadable
from service.store import verbs
from service.store.stores import Stores
from service.store.verbs import Read

BATCH = 200
"""Records that are read, and written, in one round trip."""

ATTEMPTS = 10
"""Readings of a batch of which somebody else changes a record each time."""


class Tally(msgspec.Struct):
    """Counts the records of one kind with secrets, by their encryption key."""

    kind: str
    current: int = 0
    """Under the first encryption key, before anything was done."""
    retired: int = 0
    """Under another one: encrypted anew if that was asked for."""
    unreadable: int = 0
    """Under none that is configured, or of an unknown release."""


class _Kind(msgspec.Struct, frozen=True):
    name: str
    pattern: str
    find_sealed: Callable[[bytes], Sequence[str | None]]
    """Returns the encrypted texts in a record."""


class Reencryption(msgspec.Struct, frozen=True, kw_only=True):
    """Knows what is encrypted and stays; what ends by itself within `users.grace` or minutes is left to do so."""

    stores: Stores
    seal: Seal
    prefix: str

    async def count(self) -> Sequence[Tally]:
        """Return how everything is encrypted, and change nothing."""
        return [await self._walk(kind, renews=False) for kind in self._kinds()]

    async def renew(self) -> Sequence[Tally]:
        """Encrypt with the first key what another one encrypts; a record that changes meanwhile is read again."""
        return [await self._walk(kind, renews=True) for kind in self._kinds()]

    def _kinds(self) -> Sequence[_Kind]:
        factors, clients = self.stores.factors, self.stores.registered_clients
        return (
            _Kind(
                "signing keys",
                name_record(self.prefix),
                lambda value: [key.sealed for key in RECORD.decode(value).keys],
            ),
            _Kind("second factors", factors.key("*"), lambda value: [factors.decode(value)]),
            _Kind(
                "client secrets",
                clients.key("*"),
                lambda value: [clients.decode(value).sealed_secret],
            ),
        )

    async def _walk(self, kind: _Kind, *, renews: bool) -> Tally:
        tally = Tally(kind.name)
        async for keys in self.stores.kv.find_key_batches(kind.pattern, size=BATCH):
            left: Sequence[str] = keys
            for _ in range(ATTEMPTS):
                left = await self._try(kind, left, tally, renews=renews)
                if not left:
                    break
            tally.unreadable += len(left)
        return tally

    async def _try(
        self, kind: _Kind, keys: Sequence[str], tally: Tally, *, renews: bool
    ) -> Sequence[str]:
        """Count and write the records of a batch; return the keys of those that somebody else has changed."""
        kv = self.stores.kv
        values = await kv.read(*[Read(key, bytes) for key in keys])
        old = [(key, value) for key, value in zip(keys, values, strict=True) if value is not None]
        stale = list[tuple[str, bytes, bytes]]()
        for key, value in old:
            after = self._renew(kind, value, tally)
            if after is not None:
                stale.append((key, value, after))
        written: Sequence[object] = [True] * len(stale)
        if renews:
            written = await kv.write(*[verbs.replace(*change) for change in stale], durable=True)
        tally.retired += sum(map(bool, written))
        return [key for (key, _, _), done in zip(stale, written, strict=True) if not done]

    def _renew(self, kind: _Kind, value: bytes, tally: Tally) -> bytes | None:
        """Return the record with what a retired key encrypts under the first one; None where nothing is.

        All else in it stays byte for byte: the next release may have written it.
        """
        try:
            sealed = [text for text in kind.find_sealed(value) if text is not None]
            for text in sealed:
                self.seal.open_text(text)
        except (Unreadable, ValueError):
            tally.unreadable += 1
            return None
        after = value
        for text in sealed:
            after = after.replace(text.encode(), self.seal.renew(text).encode())
        tally.current += bool(sealed) and after == value
        return after if after != value else None
