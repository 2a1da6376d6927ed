"""Encrypts private keys and client secrets for the store, and opens them again."""

from __future__ import annotations

import asyncio
import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Iterable, Sequence
from contextlib import suppress

import orjson
import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from service.keys.jose import Key
from service.keys.schedule import Keys, SigningKey

log = structlog.stdlib.get_logger(__name__)


class Unreadable(Exception):
    """No configured encryption key opens what was sealed, or the content is something else."""


def cipher_from_id(record_id: str, purpose: bytes) -> Fernet:
    """Return a cipher for a record that the store knows by another hash of this random id only."""
    return Fernet(urlsafe_b64encode(hmac.digest(record_id.encode(), purpose, "sha256")))


class Seal:
    """Encrypts with the first of `signing.encryption_key` and decrypts with all of them."""

    def __init__(self, encryption_keys: Sequence[bytes]) -> None:
        """Take keys of 32 bytes; with none, one is made that ends with this process."""
        keys = encryption_keys or (secrets.token_bytes(32),)
        ciphers = [Fernet(urlsafe_b64encode(key)) for key in keys]
        self._newest = ciphers[0]
        self._all = MultiFernet(ciphers)

    def seal_text(self, text: str) -> str:
        """Encrypt a secret that is needed again, such as a registered client's (OIDC Core §10.1)."""
        return self._newest.encrypt(text.encode()).decode()

    def open_text(self, sealed: str) -> str:
        """Return the secret, or raise Unreadable."""
        try:
            return self._all.decrypt(sealed).decode()
        except InvalidToken as error:
            raise Unreadable("no encryption key opens it") from error

    def renew(self, sealed: str) -> str:
        """Encrypt the content with the first encryption key, unless it is already or cannot be opened."""
        with suppress(InvalidToken):
            self._newest.decrypt(sealed)
            return sealed
        with suppress(InvalidToken):
            return self._all.rotate(sealed).decode()
        return sealed


class Vault:
    """The private keys that this process has made or opened.

    Each is opened once; RSA takes a tenth of a second, so opening and making happen in a thread.
    """

    def __init__(self, seal: Seal) -> None:
        self.seal = seal
        self._opened: dict[str, Key | None] = {}

    async def open_all(self, keys: Keys) -> None:
        """Open those of the keys that are new here, and forget all others."""
        opened = {key.kid: self._opened.get(key.kid) for key in keys}
        for key in keys:
            if key.kid not in self._opened:
                opened[key.kid] = await asyncio.to_thread(self._open, key)
        self._opened = opened

    def find_opened(self, keys: Iterable[SigningKey]) -> list[Key]:
        """Return those of the keys that could be opened."""
        return [found for key in keys if (found := self._opened.get(key.kid)) is not None]

    async def make(self, alg: str, *, sign_from: int, now: int) -> SigningKey:
        """Make a key and seal it."""
        key = await asyncio.to_thread(Key.generate, alg)
        self._opened[key.kid] = key
        content = orjson.dumps({**key.private_jwk, "alg": alg}).decode()
        return SigningKey(
            kid=key.kid,
            alg=alg,
            announced_at=now,
            sign_from=sign_from,
            retired_at=None,
            sealed=self.seal.seal_text(content),
        )

    def _open(self, key: SigningKey) -> Key | None:
        """Return the key, or None if it cannot be opened or was sealed in the place of another key."""
        with suppress(Unreadable, ValueError):
            content = orjson.loads(self.seal.open_text(key.sealed))
            opened = Key.load(content, key.alg)
            if (content["alg"], opened.kid) == (key.alg, key.kid):
                return opened
        log.warning("a signing key cannot be decrypted", kid=key.kid, alg=key.alg)
        return None
