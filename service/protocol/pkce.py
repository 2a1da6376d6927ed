"""Proof Key for Code Exchange: only the sender of a request can redeem its code (RFC 7636)."""

from __future__ import annotations

import hmac
import re
from hashlib import sha256
from typing import Final, Literal

import msgspec

from service.protocol.errors import InvalidRequest, RefusedValue
from service.protocol.octets import base64url

PLAIN: Final = "plain"
S256: Final = "S256"

_VERIFIER = re.compile(r"[A-Za-z0-9\-._~]{43,128}")


class CodeChallenge(msgspec.Struct, frozen=True, kw_only=True):
    """The hash of a verifier that the client sends later (RFC 7636 §4.2)."""

    value: str
    method: Literal["plain", "S256"]

    def verifies(self, code_verifier: str) -> bool:
        """Return whether the challenge was made from this verifier (RFC 7636 §4.6)."""
        if _VERIFIER.fullmatch(code_verifier) is None:
            return False
        given = s256(code_verifier) if self.method == S256 else code_verifier
        return hmac.compare_digest(given.encode(), self.value.encode())


def parse_code_challenge(value: str | None, method: str | None) -> CodeChallenge | None:
    """Read the two parameters; a challenge without a method means plain (RFC 7636 §4.3)."""
    if value is None:
        if method is not None:
            raise InvalidRequest("code_challenge is missing beside code_challenge_method")
        return None
    if _VERIFIER.fullmatch(value) is None:
        raise InvalidRequest("code_challenge is not 43 to 128 characters of [A-Z a-z 0-9 - . _ ~]")
    if method not in {None, PLAIN, S256}:
        refused = RefusedValue("code_challenge_method", method)
        raise InvalidRequest("code_challenge_method is not S256 or plain", refused=refused)
    return CodeChallenge(value=value, method=S256 if method == S256 else PLAIN)


def s256(code_verifier: str) -> str:
    """The S256 transformation (RFC 7636 §4.2)."""
    return base64url(sha256(code_verifier.encode("ascii")).digest())
