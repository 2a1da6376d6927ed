"""The key that a token is bound to: its sender has to prove possession of the key (RFC 7800)."""

from __future__ import annotations

from typing import Literal

import msgspec

ConfirmationMethod = Literal["jkt", "x5t#S256"]


class Confirmation(msgspec.Struct, frozen=True):
    """A DPoP key (`jkt`, RFC 9449 §6.1) or a client certificate (`x5t#S256`, RFC 8705 §3.1)."""

    method: ConfirmationMethod
    thumbprint: str
    """SHA-256 of the public key or of the certificate, base64url."""

    def as_claim(self) -> dict[str, str]:
        """Return the value of the `cnf` claim."""
        return {self.method: self.thumbprint}


def read_confirmation(cnf: object) -> Confirmation:
    """Read a `cnf` claim; ValueError unless it names one key by a method that is known here."""
    ((method, thumbprint),) = msgspec.convert(cnf, dict[ConfirmationMethod, str]).items()
    return Confirmation(method, thumbprint)


def token_type(cnf: Confirmation | None) -> Literal["Bearer", "DPoP"]:
    """Return the `token_type` of an access token that is bound to this key (RFC 9449 §5, RFC 8705 §3)."""
    return "DPoP" if cnf is not None and cnf.method == "jkt" else "Bearer"
