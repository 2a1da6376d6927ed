"""WWW-Authenticate: the header that asks a refused caller to authenticate (RFC 9110 §11.6.1)."""

from __future__ import annotations

from collections.abc import Mapping

from service.protocol.errors import MissingToken, OAuthError


def basic_challenge(realm: str) -> Mapping[str, str]:
    """Ask for Basic credentials (RFC 7617 §2)."""
    return {"WWW-Authenticate": f'Basic realm="{_quote(realm)}", charset="UTF-8"'}


def bearer_challenge(realm: str, error: OAuthError) -> Mapping[str, str]:
    """Ask for a bearer token, and name the error unless the request held no token (RFC 6750 §3)."""
    challenge = f'Bearer realm="{_quote(realm)}"'
    if not isinstance(error, MissingToken):
        challenge += f', error="{error.code}", error_description="{_quote(error.description)}"'
    return {"WWW-Authenticate": challenge}


def _quote(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
