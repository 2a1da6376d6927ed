"""Verifies what authenticators send; the only file that knows fido2 (WebAuthn Level 3 §7.1, §7.2)."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from typing import TypeVar, cast

import msgspec
from cryptography.exceptions import InvalidSignature
from fido2 import cbor
from fido2.cose import RS256, CoseKey
from fido2.server import Fido2Server
from fido2.utils import websafe_decode, websafe_encode
from fido2.webauthn import (
    Aaguid,
    AttestedCredentialData,
    AuthenticationResponse,
    AuthenticatorData,
    PublicKeyCredentialRpEntity,
    RegistrationResponse,
    UserVerificationRequirement,
)
from msgspec.structs import replace

from service.identity.factors.passkey_challenges import ALGORITHMS, PasskeyRefused
from service.model.factors import Passkey

T = TypeVar("T")

RSA_BYTES = range(256, 513)
"""Of a modulus: from 2048 to 4096 bits."""
MAX_EXPONENT_BYTES = 4
"""Of an RSA key: a longer exponent makes each signature take a hundred times as long to verify."""

logging.getLogger("fido2").setLevel(logging.WARNING)  # below, it logs the ids of credentials


class NewCredential(msgspec.Struct, frozen=True, kw_only=True):
    """The members of a registration that describe the new key."""

    credential_id: str
    public_key: str
    sign_count: int
    backup_eligible: bool


class WebAuthn(msgspec.Struct, frozen=True, kw_only=True):
    """The relying party and the challenge that a response has to be made for."""

    rp_id: str
    origin: str
    """Of the only pages that may have asked; a page in a frame of another site is none of them."""
    challenge: str
    """As it was sent, base64url."""

    def register(self, response: Mapping[str, object]) -> NewCredential:
        """Return the new credential, or raise PasskeyRefused; nothing is asked of its attestation (§7.1)."""

        def read() -> NewCredential:
            sent = RegistrationResponse.from_dict(response)
            found = self._server.register_complete(self._state(required=False), sent)  # pyright: ignore[reportUnknownMemberType]
            _check_flags(found)
            credential = found.credential_data
            if credential is None or credential.credential_id != sent.raw_id:
                raise ValueError("The response is about another credential.")
            _check_key(credential.public_key)
            return NewCredential(
                credential_id=websafe_encode(credential.credential_id),
                public_key=websafe_encode(cbor.encode(dict(credential.public_key))),
                sign_count=found.counter,
                backup_eligible=found.is_backup_eligible(),
            )

        return _guard(read)

    def verify(
        self, response: Mapping[str, object], passkey: Passkey, *, user_verification: bool
    ) -> Passkey:
        """Return the passkey with its new counter, or raise PasskeyRefused unless it has signed this (§7.2).

        With `user_verification` the authenticator must have checked a PIN, a finger or a face.
        """

        def read() -> Passkey:
            sent = AuthenticationResponse.from_dict(response)
            state = self._state(required=user_verification)
            self._server.authenticate_complete(state, [_credential(passkey)], sent)  # pyright: ignore[reportUnknownMemberType]
            found = sent.response.authenticator_data
            _check_flags(found)
            is_eligible = found.is_backup_eligible()
            if is_eligible != passkey.backup_eligible and not passkey.learns_backup_eligible:
                raise ValueError("The backup eligibility has changed.")
            return replace(
                passkey,
                sign_count=found.counter,
                backup_eligible=is_eligible,
                learns_backup_eligible=False,
            )

        return _guard(read)

    @property
    def _server(self) -> Fido2Server:
        party = PublicKeyCredentialRpEntity(name=self.rp_id, id=self.rp_id)
        return Fido2Server(party, verify_origin=self.origin.__eq__)

    def _state(self, *, required: bool) -> Mapping[str, object]:
        level = UserVerificationRequirement
        return {
            "challenge": self.challenge,
            "user_verification": level.REQUIRED if required else level.DISCOURAGED,
        }


def read_public_key(public_key: str) -> str:
    """Return a COSE key of another server as this one writes it; raise PasskeyRefused unless it can verify signatures."""

    def read() -> str:
        key = _parse_key(public_key)
        _check_key(key)
        return websafe_encode(cbor.encode(dict(key)))

    return _guard(read)


def _guard(read: Callable[[], T]) -> T:
    """Turn any error of a parser of unverified bytes into PasskeyRefused."""
    try:
        return read()
    except Exception as error:  # fido2 and its parsers name no error of their own
        # The errors of parsers may quote what was sent; those of fido2 itself do not.
        is_own = type(error) is ValueError
        cause = str(error) if is_own else type(error).__name__
        raise PasskeyRefused("unverified", cause) from error


def _check_flags(found: AuthenticatorData) -> None:
    if found.is_backed_up() and not found.is_backup_eligible():
        raise ValueError("It is backed up without being eligible for it.")


def _credential(passkey: Passkey) -> AttestedCredentialData:
    key = _parse_key(passkey.public_key)
    return AttestedCredentialData.create(Aaguid.NONE, websafe_decode(passkey.credential_id), key)


def _parse_key(public_key: str) -> CoseKey:
    decoded = cbor.decode(websafe_decode(public_key))  # pyright: ignore[reportUnknownMemberType]
    return CoseKey.parse(cast("dict[int, object]", decoded))


def _check_key(key: CoseKey) -> None:
    """Raise ValueError unless signatures can be verified with this key: nothing was signed with it yet."""
    if key.ALGORITHM not in ALGORITHMS:
        raise ValueError("The algorithm was not offered.")
    if isinstance(key, RS256) and len(cast("bytes", key[-1])) not in RSA_BYTES:
        raise ValueError("The modulus has too few or too many bits.")
    if isinstance(key, RS256) and len(cast("bytes", key[-2])) > MAX_EXPONENT_BYTES:
        raise ValueError("The exponent has too many bits.")
    try:
        key.verify(b"", b"")
    except InvalidSignature:
        return
