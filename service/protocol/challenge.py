"""WWW-Authenticate: how a refused caller is told to identify itself (RFC 9110 §11.6.1)."""

from __future__ import annotations

from service.protocol.errors import OAuthError


def basic_challenge(realm: str) -> str:
    """Ask for Basic credentials (RFC 7617 §2)."""
    return f'Basic realm="{_quoted(realm)}", charset="UTF-8"'


def bearer_challenge(realm: str, error: OAuthError | None) -> str:
    """Ask for a bearer token; a request that held none is told no error (RFC 6750 §3)."""
    challenge = f'Bearer realm="{_quoted(realm)}"'
    if error is None:
        return challenge
    return f'{challenge}, error="{error.code}", error_description="{_quoted(error.description)}"'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
