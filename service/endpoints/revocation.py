"""POST /connect/revocation: revokes a token of the calling client (RFC 7009)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from service.clients.authentication.authentication import ClientAuthentication
from service.events.clients import ClientRefused
from service.events.event import Emit
from service.events.tokens import TokenRevoked
from service.model.client import Client
from service.protocol.errors import InvalidClient
from service.protocol.paths import REVOCATION
from service.tokens.active import ActiveTokens, selector_of
from service.tokens.liveness import Revocation
from service.web.endpoint import CLIENT_ORIGINS, Answer, Direct, Message, Route, empty_answer
from service.web.parameters import form_params
from service.web.sent_credentials import CredentialReader


class RevocationEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Answers the same for a token that is unknown or another client's (RFC 7009 §2.2)."""

    takes_certificates: ClassVar[bool] = True
    client_auth: ClientAuthentication
    active_tokens: ActiveTokens
    revocation: Revocation
    credentials: CredentialReader
    emit: Emit

    def routes(self) -> Iterable[Route]:
        return (Direct("POST", REVOCATION, self.revoke, scripts=CLIENT_ORIGINS),)

    def metadata(self) -> Mapping[str, object]:
        return {
            "revocation_endpoint": REVOCATION,
            **self.client_auth.metadata("revocation_endpoint"),
        }

    async def revoke(self, request: Message) -> Answer:
        params = await form_params(request)
        try:
            client = await self.client_auth.authenticate(self.credentials.read(request, params))
        except InvalidClient as refused:
            client_id, cause = refused.claimed, refused.description
            self.emit(ClientRefused(client_id=client_id, endpoint=REVOCATION, cause=cause))
            raise
        kind = await self._revoke(params.require("token"), client)
        if kind is not None:
            self.emit(TokenRevoked(client_id=client.client_id, token_kind=kind))
        return empty_answer()

    async def _revoke(self, token: str, client: Client) -> str | None:
        """Return the kind of the token; with a refresh token its whole grant ends (RFC 7009 §2.1)."""
        authorization = await self.active_tokens.find_grant_to_revoke(token)
        if authorization is not None and authorization.client_id == client.client_id:
            await self.revocation.end_authorization(authorization.id)
            return "refresh_token"
        access = await self.active_tokens.find_to_revoke(token)
        if access is not None and access.claims["client_id"] == client.client_id:
            jti, names = str(access.claims["jti"]), defaultdict[str, set[str]](set)
            names[access.selector].add(access.name)
            # A JWT that a gateway's check made of a reference token has its jti (ForwardedTokens).
            names[selector_of(jti)].add(jti)
            for selector, some in names.items():
                await self.revocation.revoke(selector, *some, expires_at=access.expires_at)
            return "access_token"
        return None
