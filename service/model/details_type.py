"""A type of authorization_details, as the operator registers it (RFC 9396 §2, §5)."""

from __future__ import annotations

from collections.abc import Callable

import msgspec

from service.model import types
from service.protocol.authorization_details import Detail


class AuthorizationDetailsTypeEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A type of authorization_details (RFC 9396 §2)."""

    type: types.Text
    """The value of `type` in authorization_details."""
    api_resource: types.Text
    """The name of the API resource whose access tokens and introspection responses carry objects of this type."""
    schema: types.JsonSchema | None = None
    """The JSON Schema (2020-12) that the objects have to fit: here, or a JSON file. It refers to no other document, and its
    patterns have no lookaround and no backreferences."""
    summary: types.Texts | None = None
    """What the consent page says of an object, with its members in braces: Pay {instructedAmount.amount} to {creditorName}.
    null: the name of the type, and all members."""


class AuthorizationDetailsType(AuthorizationDetailsTypeEntry, frozen=True, kw_only=True):
    """A type of authorization_details whose schema has been read."""

    is_valid: Callable[[Detail], bool]
    """Derived: whether an object fits the schema."""
