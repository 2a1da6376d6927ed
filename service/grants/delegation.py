"""delegation: an API exchanges a user's token for one that carries the user to the next API.

The extension grant that this service ships with, and the example to write one's own by.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar, cast

from service.model.authorization import DELEGATION, Authorization
from service.model.client import Client
from service.protocol.errors import InvalidGrant, InvalidScope
from service.protocol.scope import OFFLINE_ACCESS
from service.tokens.active import ActiveToken
from service.tokens.granting import (
    GrantResult,
    GrantServices,
    GrantSuccess,
    ScopeRule,
    TokenRequest,
)

MAX_ACTORS = 5
"""How many APIs may stand one behind the other."""


class DelegationGrant:
    """Issues a token for the same user, with only the scope that was asked for."""

    grant_type: ClassVar[str] = DELEGATION
    scope_rule: ClassVar[ScopeRule] = ScopeRule.REQUIRED
    only_asks_the_store: ClassVar[bool] = True

    def __init__(self, options: Mapping[str, object], services: GrantServices) -> None:
        """Take `source_scopes`: which scopes a token may be exchanged with by who is no API."""
        self._source_scopes = frozenset(cast("list[str]", options.get("source_scopes", ())))
        self._services = services

    async def handle(self, request: TokenRequest) -> GrantResult:
        """Grant the user's subject to the calling client, for as long as the token lives at most."""
        if OFFLINE_ACCESS in request.scope:
            return InvalidScope("offline_access cannot be delegated")
        token = request.params.get("token")
        if token is None:
            return InvalidGrant("token is missing")
        source = await self._services.active_tokens.find(token)
        authorization = None if source is None else source.authorization
        if source is None or authorization is None or authorization.subject is None:
            return InvalidGrant("token is not an active access token of a user")
        if not self._may_exchange(request.client, source):
            return InvalidGrant("token is not for this client to exchange")
        act = _acting(request.client, source)
        if _depth(act) > MAX_ACTORS:
            return InvalidGrant(f"token has been delegated {MAX_ACTORS} times")
        return GrantSuccess(
            grant_type=self.grant_type,
            authorization=_delegated(source, authorization, request, act),
            begins=False,
            source=source,
        )

    def _may_exchange(self, client: Client, source: ActiveToken) -> bool:
        """An API resource has to be in the audience; for other clients a source scope decides."""
        resource = client.api_resource
        if resource is not None:
            return resource in source.audience
        return not self._source_scopes or not self._source_scopes.isdisjoint(source.scope)


def _delegated(
    source: ActiveToken,
    authorization: Authorization,
    request: TokenRequest,
    act: Mapping[str, object],
) -> Authorization:
    """Who the user is and how it signed in are the source's; client, scope and actor are new."""
    return Authorization(
        id=source.selector,
        client_id=request.client.client_id,
        scope=request.scope,
        resources=request.resources,
        subject=authorization.subject,
        amr=(DELEGATION,),
        acr=None,
        idp=authorization.idp,
        auth_time=authorization.auth_time,
        session_id=authorization.session_id,
        user_claims=authorization.user_claims,
        act=act,
        created_at=request.now,
    )


def _acting(client: Client, source: ActiveToken) -> dict[str, object]:
    """The calling client, with whoever acted before it nested inside (RFC 8693 §4.1)."""
    before = source.claims.get("act")
    actor: dict[str, object] = {"sub": client.client_id}
    return actor if before is None else actor | {"act": before}


def _depth(act: Mapping[str, object]) -> int:
    before = act.get("act")
    return 1 if before is None else 1 + _depth(cast("Mapping[str, object]", before))
