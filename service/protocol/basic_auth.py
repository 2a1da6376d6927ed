"""HTTP Basic credentials of a client or an API resource (RFC 7617, RFC 6749 §2.3.1)."""

from __future__ import annotations

from base64 import b64decode
from typing import NamedTuple

from service.protocol.errors import InvalidClient
from service.protocol.params import Params, form_decoded


class BasicCredentials(NamedTuple):
    """A name and a secret, decoded."""

    name: str
    secret: str


def parse_basic_auth(header: str) -> BasicCredentials | None:
    """Read an Authorization header; None where it is of another scheme.

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
