"""Reads the identifier of the user that another party means, in one of several formats (RFC 9493 §3)."""

from __future__ import annotations

from typing import Annotated

import msgspec

from service.protocol.errors import InvalidRequest
from service.protocol.typed_text import INVISIBLE

_ShortText = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
_Url = Annotated[str, msgspec.Meta(min_length=1, max_length=2048)]


class _Identifier(msgspec.Struct, frozen=True, tag_field="format", forbid_unknown_fields=True):
    """An object that has the members of its format, and no others."""


class IssuerAndSubject(_Identifier, frozen=True, tag="iss_sub"):
    """The user with this `sub` in the tokens of an issuer (RFC 9493 §3.2.3)."""

    iss: _Url
    sub: _ShortText


class EmailAddress(_Identifier, frozen=True, tag="email"):
    """The user with this address (RFC 9493 §3.2.2)."""

    email: _ShortText


class OpaqueId(_Identifier, frozen=True, tag="opaque"):
    """The user whom this service knows by this text (RFC 9493 §3.2.4)."""

    id: _ShortText


SubjectIdentifier = IssuerAndSubject | EmailAddress | OpaqueId


class _Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    sub_id: SubjectIdentifier


def read_sub_id(members: object) -> SubjectIdentifier:
    """Return the only member of an object that names a user; raise InvalidRequest for every other object."""
    try:
        found = msgspec.convert(members, _Body).sub_id
    except msgspec.ValidationError as error:
        # The error's own text repeats what the caller has sent.
        message = "sub_id has to be the only member, with the members of iss_sub, email or opaque"
        raise InvalidRequest(message) from error
    if any(map(INVISIBLE.search, msgspec.structs.astuple(found))):
        raise InvalidRequest("sub_id has a character that nobody sees")
    return found
