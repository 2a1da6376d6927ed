"""The checks of the suite on every ID token (OIDC Core §2, §3.1.3.7)."""

from __future__ import annotations

import time
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from joserfc import jwt
from joserfc.jwk import KeySet

from tests.certification.provider import ISSUER
from tests.driving.service import header_of

_PROTOCOL = {
    *("iss", "sub", "aud", "exp", "iat", "auth_time", "nonce", "acr", "amr", "azp", "jti", "nbf"),
    *("at_hash", "c_hash", "s_hash", "sid"),
}
"""What the suite takes for no claim about the person."""


def checked(
    id_token: str,
    jwks: Mapping[str, Any],
    *,
    client_id: str,
    nonces: tuple[str | None, ...],
    algorithm: str = "RS256",
) -> dict[str, Any]:
    """The claims of a token that is signed by a published key, for this client, now."""
    header = header_of(id_token)
    assert header["alg"] == algorithm
    assert header["kid"] in {key["kid"] for key in jwks["keys"]}
    keys = KeySet.import_key_set({"keys": list(jwks["keys"])})
    claims: dict[str, Any] = jwt.decode(id_token, keys, algorithms=[algorithm]).claims
    _check_times(claims)
    assert (claims["iss"], claims["aud"]) == (ISSUER, client_id)
    assert claims.get("nonce") in nonces
    assert claims["sub"].isascii()
    assert claims["sub"].isprintable()
    assert 0 < len(claims["sub"]) <= 255
    assert claims.get("acr") != ""
    return claims


def _check_times(claims: Mapping[str, Any]) -> None:
    now = time.time()
    assert claims["exp"] > now
    assert abs(claims["iat"] - now) < 60
    assert 0 <= now - claims["auth_time"] < 86400


def unrequested(claims: Mapping[str, Any]) -> set[str]:
    """The claims about the person; a warning where nobody asked for them here (OIDC Core §5.4)."""
    return claims.keys() - _PROTOCOL


def half_hash(value: str) -> str:
    """The hash of RS256 that binds a token to what it came with (OIDC Core §3.3.2.11)."""
    digest = sha256(value.encode()).digest()[:16]
    return urlsafe_b64encode(digest).rstrip(b"=").decode()
