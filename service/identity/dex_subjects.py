"""Computes the subject identifiers of dex, so that applications know the users again that they had there.

dex writes base64url of a protobuf message, {1: the user's id, 2: the connector's id} (`IDTokenSubject` in its server/internal/types.proto).
"""

from __future__ import annotations

from service.protocol.octets import base64url, decode_base64url

LOCAL_CONNECTOR = "local"
"""The connector of the users that dex has in its own configuration or database."""

_USER, _CONNECTOR = 0x0A, 0x12
"""The tags of the two fields: their number and the type of a text (Protocol Buffers, "Encoding")."""

_MORE = 0x80


def find_dex_subject(user_id: str, connector_id: str = "") -> str:
    """Return the `sub` of a user; without a connector, of a client. Empty fields are left out."""
    fields = ((_USER, user_id.encode()), (_CONNECTOR, connector_id.encode()))
    return base64url(
        b"".join(bytes([tag]) + _varint(len(text)) + text for tag, text in fields if text)
    )


def read_dex_subject(sub: str, connector_id: str) -> str | None:
    """Return the id of this connector's user with this `sub`; None if no user of it can have it."""
    try:
        message = decode_base64url(sub)
        length, at = _read_varint(message, 1)
        user_id = message[at : at + length].decode()
    except (ValueError, IndexError):
        return None
    return user_id if find_dex_subject(user_id, connector_id) == sub else None


def _varint(number: int) -> bytes:
    """Return a number in groups of seven bits, the lowest first."""
    groups = bytearray()
    while number >= _MORE:
        groups.append(number % _MORE + _MORE)
        number //= _MORE
    return bytes([*groups, number])


def _read_varint(message: bytes, at: int) -> tuple[int, int]:
    """Return the number at this place, and the place behind it."""
    number = shift = 0
    while message[at] >= _MORE:
        number, shift, at = number + (message[at] % _MORE << shift), shift + 7, at + 1
    return number + (message[at] << shift), at + 1
