"""Reads HTTP Basic credentials, and writes the challenges of WWW-Authenticate (RFC 7617, RFC 6750 §3)."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Mapping
from typing import NamedTuple

from service.protocol.errors import InvalidClient, MissingToken, OAuthError
from service.protocol.params import Params, form_decoded


class BasicCredentials(NamedTuple):
    """A name and a secret, decoded."""

    name: str
    secret: str


def parse_basic_auth(header: str) -> BasicCredentials | None:
    """Read an Authorization header; return None if it is of another scheme.

    Both halves are form-url-encoded inside Basic (RFC 6749 §2.3.1).
    """
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        name, colon, secret = b64decode(encoded.strip(), validate=True).decode().partition(":")
        if not colon:
            raise InvalidClient("the Basic credentials hold no colon")
        credentials = BasicCredentials(form_decoded(name), form_decoded(secret))
    except ValueError as error:
        raise InvalidClient("the Basic credentials are not base64 of form-encoded UTF-8") from error
    sent = {"client_id": (credentials.name,), "client_secret": (credentials.secret,)}
    Params(sent).refuse_too_long()
    return credentials


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
