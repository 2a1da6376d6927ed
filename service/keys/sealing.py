"""Encrypts private keys and client secrets for the store, and opens them again."""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class Unreadable(Exception):
    """No configured encryption key opens what was sealed."""


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
