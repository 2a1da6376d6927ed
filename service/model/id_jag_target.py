"""An authorization server for which token exchange issues ID-JAGs (draft-ietf-oauth-identity-assertion-authz-grant)."""

from __future__ import annotations

import msgspec

from service.model import types


class IdJagTarget(msgspec.Struct, frozen=True, kw_only=True):
    """Another authorization server, and what clients may do there in the name of users of this service."""

    issuer: types.WebUrl
    """Its issuer identifier: the `audience` of the exchange, and the `aud` of the ID-JAG."""
    resources: tuple[types.Text, ...] = ()
    """The resources (RFC 8707) behind it that may be asked for; a request that names none gets all of them."""
    scopes: frozenset[types.ScopeValue] = frozenset()
    """The scope values there that may be asked for; a request that names none gets all of them."""
    client_ids: dict[types.ClientId, types.ClientId] = msgspec.field(default_factory=dict)
    """Clients of this service that have another client_id there: {ours: theirs}."""
