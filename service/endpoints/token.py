"""POST /connect/token: issues tokens for a grant (RFC 6749 §3.2)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial
from typing import ClassVar

import msgspec

from service.clients.authentication.authentication import ClientAuthentication
from service.events.event import Emit
from service.events.tokens import TokenRefused
from service.grants import Grants
from service.grants.token_exchange import id_jag as issued_id_jag
from service.identity import received_id_jag
from service.keys.algorithms import SIGNING_ALGORITHMS
from service.model.authorization import Confirmation
from service.model.catalogue import Registrable
from service.model.client import Client
from service.model.credentials import RequestCredentials
from service.model.grant_types import find_meant_grant_type
from service.model.registry import LiveRegistry
from service.model.user import TokenUsers
from service.protocol.errors import (
    AuthorizationPending,
    OAuthError,
    RefusedValue,
    UnauthorizedClient,
    UnsupportedGrantType,
)
from service.protocol.params import Params
from service.protocol.paths import TOKEN
from service.protocol.token_types import GRANT_TYPE as TOKEN_EXCHANGE
from service.protocol.token_types import JWT_BEARER
from service.store.rate_limit import RateLimit
from service.store.room import KIB, MARKER, Room
from service.tokens.granting import Grant, TokenRequest
from service.tokens.issuer import TokenIssuer
from service.tokens.permitted import find_permitted_claims
from service.tokens.refresh_token import EXPIRATION_METADATA
from service.tokens.requested_access import requested_access
from service.web.endpoint import CLIENT_ORIGINS, Answer, Direct, Message, Route, json_answer
from service.web.key_proofs import KeyProofs
from service.web.parameters import form_params
from service.web.sent_credentials import CredentialReader


class TokenEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Makes the checks that all grants share, in the contract's order."""

    takes_certificates: ClassVar[bool] = True
    client_auth: ClientAuthentication
    grants: Grants
    users: TokenUsers
    issuer: TokenIssuer
    registry: LiveRegistry
    rate_limit: RateLimit
    room: Room
    credentials: CredentialReader
    proofs: KeyProofs
    emit: Emit
    registrable: Registrable

    def routes(self) -> Iterable[Route]:
        return (Direct("POST", TOKEN, self.token, scripts=CLIENT_ORIGINS),)

    def metadata(self) -> Mapping[str, object]:
        registry = self.registry.current
        usable = self.registrable.grant_types | registry.grant_types
        clients = [each for each in registry.clients.values() if each.enabled]
        tells_expiration = any(each.token_expiration_members for each in clients)
        return {
            **(EXPIRATION_METADATA if tells_expiration or self.issuer.expiration_members else {}),
            "token_endpoint": TOKEN,
            "grant_types_supported": sorted(usable & (self.grants.types | {"implicit"})),
            **self.client_auth.metadata("token_endpoint"),
            **self._id_jag_metadata(usable),
            "dpop_signing_alg_values_supported": list(SIGNING_ALGORITHMS),
        }

    def _id_jag_metadata(self, usable: Collection[str]) -> Mapping[str, object]:
        registry = self.registry.current
        by_grant_type = {
            JWT_BEARER: received_id_jag.metadata(registry),
            TOKEN_EXCHANGE: issued_id_jag.metadata(registry),
        }
        return {
            name: value
            for grant_type, members in by_grant_type.items()
            if grant_type in usable
            for name, value in members.items()
        }

    async def token(self, request: Message) -> Answer:
        params: Params | None = None
        client: Client | None = None
        try:
            params = await form_params(request)
            credentials = self.credentials.read(request, params)
            client = await self.client_auth.authenticate(credentials)
            await self.rate_limit.count(client.client_id)
            grant = self._find_grant(params.require("grant_type"), client)
            cnf = await self.proofs.confirm(request, client, credentials)
            asked = self._read_request(request, credentials, client, grant, cnf)
            result = await grant.handle(asked)
            if isinstance(result, OAuthError):
                self.client_auth.add_challenge(result, credentials.authorization)
                raise result
            if client.is_anybodys and result.authorization.subject is None:
                await self._take_room(request, client)
            permissions = self.registry.current.permissions_of(client)
            user_claims = await find_permitted_claims(
                self.users, self.registry, result.authorization, permissions
            )
            response = await self.issuer.issue(asked, result, user_claims=user_claims)
        except OAuthError as error:
            if params is not None:
                self._emit_refusal(params, client, error)
            error.headers = {**error.headers, **self.proofs.nonce_for(request, client)}
            raise
        return json_answer(response, headers=self.proofs.nonce_for(request, client))

    async def _take_room(self, request: Message, client: Client) -> None:
        """Count the token of a client for itself, or what will remember its revocation."""
        size = KIB if client.access_token_type == "reference" else MARKER
        seconds, address = client.access_token_lifetime, self.credentials.client_address
        await self.room.take_for(client, size, seconds=seconds, address=address.find(request))

    def _read_request(
        self,
        request: Message,
        credentials: RequestCredentials,
        client: Client,
        grant: Grant,
        cnf: Confirmation | None,
    ) -> TokenRequest:
        """Return the request with scope, resources and details as far as they are judged before the grant."""
        params, registry = credentials.params, self.registry.current
        scope, resources, details = requested_access(params, client, registry, grant)
        return TokenRequest(
            client=client,
            grant_type=params.require("grant_type"),
            params=params,
            scope=scope,
            resources=resources,
            authorization_details=details,
            now=credentials.now,
            cnf=cnf,
            find_address=partial(self.credentials.client_address.find, request),
        )

    def _find_grant(self, grant_type: str, client: Client) -> Grant:
        grant = self.grants.find(grant_type)
        if grant is not None and grant_type in client.allowed_grant_types:
            return grant
        refused = RefusedValue("grant_type", grant_type, client.client_id)
        if grant is None:
            meant = find_meant_grant_type(grant_type)
            hint = "" if meant is None else f"; did you mean {meant}?"
            description = f"grant_type is not one that this server knows{hint}"
            raise UnsupportedGrantType(description, refused=refused)
        description = "the client is not registered for this grant_type"
        raise UnauthorizedClient(description, refused=refused)

    def _emit_refusal(self, params: Params, client: Client | None, error: OAuthError) -> None:
        if isinstance(error, AuthorizationPending):
            return  # the usual answer to a client that polls
        sent = params.get("grant_type")
        self.emit(
            TokenRefused(
                client_id=client.client_id if client else error.claimed,
                grant_type=sent if sent in self.grants.types else None,  # no credential by mistake
                error=error.code,
                cause=error.description,
                parameter=error.refused.parameter,
                value=error.refused.shown,
            )
        )
