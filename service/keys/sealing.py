"""Encrypts private keys and client secrets for the store, and opens them again."""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Sequence
from contextlib import suppress

from cryptography.exceptions import InvalidTag
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from service.protocol.octets import base64url, decode_base64url, random_bytes

_MARK = "."
"""The beginning of what is encrypted by AES-GCM; Fernet's begins with `gAAAAA`."""
_NONCE = 12


class Unreadable(Exception):
    """Neither a configured encryption key nor the id of a record opens what was sealed."""


def seal_by_id(content: bytes, record_id: str, purpose: bytes) -> str:
    """Encrypt a record that the store knows by another hash of this random id only."""
    nonce = random_bytes(_NONCE)
    cipher = AESGCM(_key_from_id(record_id, purpose))
    return _MARK + base64url(nonce + cipher.encrypt(nonce, content, None))


def seal_as_before(content: bytes, record_id: str, purpose: bytes) -> str:
    """Encrypt in the form that 0.2.0 reads, too, which takes ten times as long (docs/decisions/store/parked-requests.md)."""
    return _fernet_from_id(record_id, purpose).encrypt(content).decode()


def open_by_id(sealed: str, record_id: str, purpose: bytes) -> bytes:
    """Return the content of either form, or raise Unreadable."""
    try:
        if not sealed.startswith(_MARK):
            return _fernet_from_id(record_id, purpose).decrypt(sealed)
        whole = decode_base64url(sealed.removeprefix(_MARK))
        cipher = AESGCM(_key_from_id(record_id, purpose))
        return cipher.decrypt(whole[:_NONCE], whole[_NONCE:], None)
    except (InvalidToken, InvalidTag, ValueError) as error:
        raise Unreadable("it was sealed with another id, or changed") from error


def _fernet_from_id(record_id: str, purpose: bytes) -> Fernet:
    return Fernet(urlsafe_b64encode(_key_from_id(record_id, purpose)))


def _key_from_id(record_id: str, purpose: bytes) -> bytes:
    return hmac.digest(record_id.encode(), purpose, "sha256")


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
