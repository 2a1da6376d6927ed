"""The private keys that this process has made or could open."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

import structlog

from service.keys.jose import Key
from service.keys.schedule import Keys, NewKey
from service.keys.sealing import Seal, Unreadable
from service.model.signing_key import SigningKey

log = structlog.stdlib.get_logger(__name__)


class Vault:
    """Opens each key once; RSA takes a tenth of a second, so both opening and making happen in a thread."""

    def __init__(self, seal: Seal) -> None:
        """Take the seal of the store's keys."""
        self._seal = seal
        self._opened: dict[str, Key | None] = {}

    async def hold(self, keys: Keys) -> None:
        """Open those of the keys that are new here, and forget all others."""
        opened = {key.kid: self._opened.get(key.kid) for key in keys}
        for key in keys:
            if key.kid not in self._opened:
                opened[key.kid] = await asyncio.to_thread(self._open, key)
        self._opened = opened

    def find(self, kid: str) -> Key | None:
        """The opened key of that id; None where it is unknown or could not be opened."""
        return self._opened.get(kid)

    def opened(self, keys: Iterable[SigningKey]) -> list[Key]:
        """Those of the keys that could be opened."""
        return [opened for key in keys if (opened := self.find(key.kid)) is not None]

    async def make(self, wanted: NewKey, now: int) -> SigningKey:
        """A new key, sealed."""
        key = await asyncio.to_thread(Key.generate, wanted.alg)
        self._opened[key.kid] = key
        return SigningKey(
            kid=key.kid,
            alg=key.alg,
            announced_at=now,
            sign_from=wanted.sign_from,
            retired_at=None,
            sealed=self._seal.close(key),
        )

    def renew_seal(self, key: SigningKey) -> str:
        """The key's seal under the first encryption key."""
        return self._seal.renew(key.sealed)

    def _open(self, key: SigningKey) -> Key | None:
        try:
            return self._seal.open(key)
        except Unreadable:
            log.warning("a signing key cannot be decrypted", kid=key.kid, alg=key.alg)
            return None
