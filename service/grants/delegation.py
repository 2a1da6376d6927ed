"""delegation: an API exchanges a user's token for one that carries the user to the next API.

The extension grant that this service ships with, and the example for writing your own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from service.model.authorization import DELEGATION
from service.model.client import Client
from service.protocol.errors import InvalidGrant, InvalidScope, OAuthError
from service.protocol.scope import OFFLINE_ACCESS
from service.tokens.active import ActiveToken
from service.tokens.granting import DerivedGrant, GrantServices, TokenRequest
from service.tokens.permitted import find_actors

MAX_ACTORS = 5
"""The longest chain of APIs that act for a user."""


class DelegationGrant:
    """Grants a token for the same user, with only the scope that was asked for."""

    grant_type: ClassVar[str] = DELEGATION
    only_asks_the_store: ClassVar[bool] = True

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Read `source_scopes`: a client that is not an API exchanges only tokens with one of them."""
        self._source_scopes = frozenset(cast("list[str]", options.get("source_scopes", ())))
        self._active_tokens = services.active_tokens
        self._registry = services.registry

    async def handle(self, request: TokenRequest) -> DerivedGrant | OAuthError:
        """Grant the user's subject to the calling client, for as long as the token lives at most."""
        if OFFLINE_ACCESS in request.scope:
            return InvalidScope("offline_access cannot be delegated")
        token = request.params.get("token")
        if token is None:
            return InvalidGrant("token is missing")
        source = await self._active_tokens.find_to_derive_from(token)
        if source is None or source.subject is None:
            return InvalidGrant("token is not an active access token of a user")
        if not self._may_exchange(request.client, source):
            return InvalidGrant("token is not for this client to exchange")
        act: dict[str, object] = {"sub": request.client.client_id}
        if "act" in source.claims:
            act["act"] = source.claims["act"]
            if len([*find_actors(act, None)]) > MAX_ACTORS:
                return InvalidGrant(f"token has been delegated {MAX_ACTORS} times")
        return DerivedGrant(request=request, source=source, amr=(DELEGATION,), act=act)

    def _may_exchange(self, client: Client, source: ActiveToken) -> bool:
        """An API resource has to be in the audience; for other clients a source scope decides."""
        resource = client.api_resource
        if resource is not None:
            return self._registry.current.identifies_any(source.audience, (resource,))
        return not self._source_scopes or not self._source_scopes.isdisjoint(source.scope)
