"""Encrypts the user's claims in the record of a refresh token with a key derived from the token (RFC 9700 §4.14).

The store knows the token's hash and none of these keys. AES-GCM, because every refresh decrypts and encrypts.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from hashlib import blake2b

import msgspec
import structlog
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM

from service.model.authorization import RefreshToken
from service.model.handle import Handle
from service.store.keyvalue import StoreUnavailable

log = structlog.stdlib.get_logger(__name__)

_NONCE = 12
_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(dict[str, object]).decode


def seal_claims(claims: Mapping[str, object], token: Handle) -> bytes:
    """Return the claims as the record of this token has them; no bytes for no claims."""
    if not claims:
        return b""
    nonce = secrets.token_bytes(_NONCE)
    return nonce + _cipher(token).encrypt(nonce, _encode(claims), None)


def open_claims(record: RefreshToken, token: Handle) -> Mapping[str, object]:
    """Return the claims of the record; StoreUnavailable if they were sealed for another token."""
    sealed = record.sealed_claims
    if not sealed:
        return record.user_claims
    try:
        return _decode(_cipher(token).decrypt(sealed[:_NONCE], sealed[_NONCE:], None))
    except (InvalidTag, ValueError) as error:
        log.error("the claims of a refresh token cannot be read", selector=token.selector)  # noqa: TRY400 - a traceback adds nothing
        raise StoreUnavailable("the store holds a record that cannot be read") from error


def _cipher(token: Handle) -> AESGCM:
    """Derive the key by another hash of the token than the one that the store knows."""
    return AESGCM(blake2b(token.text.encode(), digest_size=32, person=b"user claims").digest())
