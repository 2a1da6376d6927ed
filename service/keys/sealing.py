"""Keeping private keys and secrets secret in the store: sealed before they leave the process, opened when they come back."""

from __future__ import annotations

import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence

import orjson
from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from service.keys.jose import Key
from service.model.signing_key import SigningKey


class Unreadable(Exception):
    """None of the configured encryption keys opens what was sealed, or what is inside is something else."""


class Seal:
    """Encrypts with the first of `signing.encryption_key` and decrypts with all of them."""

    def __init__(self, encryption_keys: Sequence[bytes]) -> None:
        """Take keys of 32 bytes; with none, one is made that ends with this process."""
        keys = encryption_keys or (secrets.token_bytes(32),)
        ciphers = [Fernet(urlsafe_b64encode(key)) for key in keys]
        self._newest = ciphers[0]
        self._all = MultiFernet(ciphers)

    def close(self, key: Key) -> str:
        """The whole key, its algorithm included, as an encrypted text."""
        content = orjson.dumps({**key.private_jwk, "alg": key.alg})
        return self._newest.encrypt(content).decode()

    def open(self, sealed: SigningKey) -> Key:
        """The key again, or Unreadable; what was moved to another key's place opens nothing."""
        try:
            content = orjson.loads(self._all.decrypt(sealed.sealed))
            key = Key.load(content, sealed.alg)
        except (InvalidToken, ValueError) as error:
            raise Unreadable(sealed.kid) from error
        if content["alg"] != sealed.alg or key.kid != sealed.kid:
            raise Unreadable(sealed.kid)
        return key

    def close_text(self, text: str) -> str:
        """A secret that has to be known again, such as a registered client's (OIDC Core §10.1)."""
        return self._newest.encrypt(text.encode()).decode()

    def open_text(self, sealed: str) -> str:
        """The secret again, or Unreadable."""
        try:
            return self._all.decrypt(sealed).decode()
        except InvalidToken as error:
            raise Unreadable("no encryption key opens it") from error

    def renew(self, sealed: str) -> str:
        """The same content under the first encryption key; what is there already, or is unreadable, stays."""
        try:
            self._newest.decrypt(sealed)
        except InvalidToken:
            return self._rotated(sealed)
        return sealed

    def _rotated(self, sealed: str) -> str:
        try:
            return self._all.rotate(sealed).decode()
        except InvalidToken:
            return sealed
