"""The values that only keys of a client have: their forms and their checks, and the claims that one of them lists."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from ipaddress import ip_address
from typing import Annotated

import msgspec

from service.model import marks, types
from service.protocol.authorization_request import RESPONSE_TYPES, parse_response_type
from service.protocol.errors import UnsupportedResponseType

_THUMBPRINT = re.compile("[A-Za-z0-9_-]{43}")


def _response_type(value: str) -> str:
    """Return the response type with its words in the usual order."""
    try:
        return parse_response_type(value).name
    except UnsupportedResponseType as error:
        names = ", ".join(known.name for known in RESPONSE_TYPES)
        raise marks.expected(f"one of the response types {names}") from error


def _subject(value: str) -> str:
    from service.model.certificate import parse_subject  # noqa: PLC0415 - X.509, for few clients

    try:
        parse_subject(value)
    except ValueError:
        example = "CN=shop,O=Example (RFC 4514), without spaces after commas"
        raise marks.expected(f"a distinguished name such as {example}") from None
    return value


def _ip(value: str) -> str:
    try:
        ip_address(value)
    except ValueError:
        raise marks.expected("an IP address") from None
    return value


def _certificate(value: str) -> str:
    from service.model.certificate import der_in_pem  # noqa: PLC0415 - likewise

    if der_in_pem(value) is None and not _THUMBPRINT.fullmatch(value):
        raise marks.expected("a certificate in PEM, or x5t#S256: its SHA-256 hash in base64url")
    return value


ResponseType = Annotated[str, marks.After(_response_type)]
CertificateSubject = Annotated[types.Text, marks.After(_subject)]
IpAddress = Annotated[types.Text, marks.After(_ip)]
Certificate = Annotated[str, msgspec.Meta(max_length=16384), marks.After(_certificate)]
"""A certificate in PEM, or the SHA-256 hash of one."""


class UserClaims(msgspec.Struct, frozen=True, kw_only=True):
    """Claims of users that a client gets whatever scope it asks for, and where."""

    id_token: tuple[types.Text, ...] = ()
    """The names of those in ID tokens."""
    userinfo: tuple[types.Text, ...] = ()
    """The names of those in userinfo responses."""
    access_token: tuple[types.Text, ...] = ()
    """The names of those in access tokens for a user, whichever API they are for."""
    values: dict[str, object] = msgspec.field(default_factory=dict)
    """Claims that every user has at this client, in place of the user's own."""
    sources: dict[str, types.Text] = msgspec.field(default_factory=dict)
    """For a claim that has another name in `users`: that name, as where two clients mean different roles by `roles`."""

    def find(self, names: Iterable[str], claims: Mapping[str, object]) -> dict[str, object]:
        """Return those of these names that a user with these claims has at this client."""
        found = {name: self.values.get(name, claims.get(self._source(name))) for name in names}
        return {name: value for name, value in found.items() if value not in (None, "", [], {})}

    def access_token_sources(self) -> tuple[str, ...]:
        """Return the names of the user's claims that access tokens are made of."""
        return tuple(map(self._source, self.access_token))

    def _source(self, name: str) -> str:
        return self.sources.get(name, name)
