"""POST /connect/introspect: tells an API or a client whether a token is active, and its claims (RFC 7662)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

import msgspec

from service.clients.authentication.authentication import ClientAuthentication
from service.clients.keys import ClientAlgorithms, ClientKeys
from service.clock import clock
from service.events.clients import ClientRefused
from service.events.event import Emit, Event
from service.events.tokens import TokenIntrospected
from service.keys.jwe import DEFAULT_ENC
from service.model.authorization import token_type
from service.model.client import Client
from service.model.registry import LiveRegistry
from service.model.resources import Api, ApiResource, ApiScope
from service.protocol.authorization_details import PARAMETER, Detail, put_details
from service.protocol.errors import InvalidClient
from service.protocol.http_headers import prefers
from service.protocol.paths import INTROSPECTION
from service.protocol.scope import format_scope
from service.tokens.active import ActiveToken, ActiveTokens
from service.tokens.claims import foreign_claims
from service.tokens.refresh_token import ActiveRefreshToken
from service.tokens.subject import SubjectIdentifiers
from service.web.endpoint import (
    Answer,
    Direct,
    Message,
    Route,
    WholeRequest,
    json_answer,
    jwt_fields,
)
from service.web.parameters import JSON, form_params
from service.web.remembered_answers import RememberedAnswers, Sources, key_of
from service.web.sent_credentials import CredentialReader

Caller = Api | Client

SIGNED = "application/token-introspection+jwt"
_SIGNED = jwt_fields(SIGNED)

INACTIVE: Mapping[str, object] = {"active": False}
"""The answer also for an active token that is not for the caller (RFC 7662 §2.2)."""


class IntrospectionEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Tells API resources and scopes about tokens for them, and clients about their own and those for the API that they run."""

    takes_certificates: ClassVar[bool] = True
    client_auth: ClientAuthentication
    active_tokens: ActiveTokens
    identifiers: SubjectIdentifiers
    registry: LiveRegistry
    keys: ClientKeys
    algorithms: ClientAlgorithms
    credentials: CredentialReader
    remembered: RememberedAnswers | None
    """None where nothing is tracked, or users come from elsewhere."""
    emit: Emit

    def routes(self) -> Iterable[Route]:
        at_once = None if self.remembered is None else self.repeat
        return (Direct("POST", INTROSPECTION, self.introspect, at_once=at_once),)

    def metadata(self) -> Mapping[str, object]:
        return {
            "introspection_endpoint": INTROSPECTION,
            **self.client_auth.metadata("introspection_endpoint", without="none"),
            **self.algorithms.response_metadata("introspection"),
        }

    def repeat(self, request: WholeRequest) -> tuple[Answer, Event] | None:
        """Return the answer to the same request before, if it still is right, and the event of it."""
        key = key_of(request)
        known = None if self.remembered is None else self.remembered.find(key)
        return None if known is None else (Answer(known.fields, known.body), known.event)

    async def introspect(self, request: Message) -> Answer:
        sources = None if self.remembered is None else self.remembered.sources()
        params = await form_params(request)
        try:
            caller = await self.client_auth.authenticate_caller(
                self.credentials.read(request, params)
            )
        except InvalidClient as refused:
            client_id, cause = refused.claimed, refused.description
            self.emit(ClientRefused(client_id=client_id, endpoint=INTROSPECTION, cause=cause))
            raise
        found = await self.active_tokens.find(params.require("token"))
        answer = await self._find_claims(params.require("token"), found, caller)
        self.emit(TokenIntrospected(caller=_name(caller), active=answer is not INACTIVE))
        if not _wants_jwt(request, caller):
            content = json_answer(answer)
            # An assertion that proves the caller expires.
            if sources and answer is not INACTIVE and "client_assertion" not in params:
                self._remember(request, content, found, caller, sources)
            return content
        jwt = await self._sign(answer, caller)
        return Answer(_SIGNED, (await self._encrypt(jwt, caller)).encode())

    def _remember(
        self,
        request: Message,
        answer: Answer,
        token: ActiveToken | None,
        caller: Caller,
        sources: Sources,
    ) -> None:
        if self.remembered is None or token is None or isinstance(caller, Client):
            return
        if token.kept and isinstance(request, WholeRequest):
            self.remembered.remember(key_of(request), answer, token, caller, sources)

    async def _sign(self, answer: Mapping[str, object], caller: Caller) -> str:
        """Return the answer as a JWT for this caller (RFC 9701 §5)."""
        claims = {
            "iss": self.active_tokens.issuer,
            "aud": _name(caller),
            "iat": clock(),
            "token_introspection": answer,
        }
        alg = (
            caller.introspection_signed_response_alg
            if isinstance(caller, Client)
            else caller.introspection_signing_alg
        )
        key = self.active_tokens.keys.signing_key(alg)
        return await key.sign(claims, typ="token-introspection+jwt")

    async def _encrypt(self, jwt: str, caller: Caller) -> str:
        """Return the JWT as it is, or encrypted if the caller is registered for that (RFC 9701 §5, §6)."""
        alg = caller.introspection_encrypted_response_alg
        if alg is None or isinstance(caller, ApiScope):
            return jwt
        enc = caller.introspection_encrypted_response_enc or DEFAULT_ENC
        return await self.keys.encrypt(jwt.encode(), caller, alg=alg, enc=enc, cty="JWT")

    async def _find_claims(
        self, token: str, found: ActiveToken | None, caller: Caller
    ) -> Mapping[str, object]:
        if not isinstance(caller, Client):
            return INACTIVE if found is None else self._claims_for_api(found, caller)
        if found is not None:
            return self._claims_for_client(found, caller)
        refresh = await self.active_tokens.find_refresh_token(token)
        return INACTIVE if refresh is None else self._claims_of_refresh_token(refresh, caller)

    def _claims_for_api(self, token: ActiveToken, api: Api) -> Mapping[str, object]:
        """Return the token's claims, with scope and user claims cut to those of this API."""
        granted, audience = token.scope, token.audience
        scope, details = granted & api.scopes, self._find_details(token, api)
        if not (scope or details) or (isinstance(api, ApiResource) and not api.is_in(audience)):
            return INACTIVE
        others = foreign_claims(self.registry.current, audience, granted, api)
        claims = {name: value for name, value in token.claims.items() if name not in others}
        answer = {
            "active": True,
            **_username(claims),
            **claims,
            "scope": format_scope(scope),
            "token_type": token_type(token.cnf),
        }
        if PARAMETER in claims:
            put_details(answer, details)
        return answer

    def _find_details(self, token: ActiveToken, api: Api) -> tuple[Detail, ...]:
        """Return the authorization_details that this API understands (RFC 9396 §9.2)."""
        if PARAMETER not in token.claims or not isinstance(api, ApiResource):
            return ()
        return self.registry.current.details_for(token.authorization_details, (api.name,))

    def _claims_for_client(self, token: ActiveToken, client: Client) -> Mapping[str, object]:
        """Return the token's claims, with the `sub` that this client knows (OIDC Core §8); of a token of others, as the API that the client runs."""
        if token.claims["client_id"] != client.client_id:
            api = self.registry.current.api_resources.get(client.api_resource or "")
            return INACTIVE if api is None else self._claims_for_api(token, api)
        claims = dict(token.claims)
        if token.subject is not None:
            claims["sub"] = self.identifiers.find_sub(client, token.subject)
        return {
            "active": True,
            **_username(claims),
            **claims,
            "token_type": token_type(token.cnf),
        }

    def _claims_of_refresh_token(
        self, token: ActiveRefreshToken, client: Client
    ) -> Mapping[str, object]:
        authorization = token.authorization
        if authorization.client_id != client.client_id:
            return INACTIVE
        details = authorization.authorization_details
        # The record does not say when a sliding one expires, or one that ends with a session; only a time to live does.
        slides = client.refresh_token_expiration == "sliding" or not authorization.is_offline
        return {
            "active": True,
            "client_id": authorization.client_id,
            "sub": self.identifiers.find_sub(client, str(authorization.subject)),
            "scope": format_scope(authorization.scope),
            **({PARAMETER: details} if details else {}),
            **({} if slides else {"exp": token.record.ends_at}),
            "token_type": "refresh_token",
        }


def _wants_jwt(request: Message, caller: Caller) -> bool:
    """Return whether the request or the registration asks for a JWT (RFC 9701 §4).

    Accept cannot make the answer to a caller that is registered for encryption readable (§5).
    """
    if isinstance(caller, ApiResource) and caller.introspection_signed_response:
        return True
    if caller.introspection_encrypted_response_alg is not None:
        return True
    return prefers(",".join(request.headers.getall("Accept", ())), SIGNED, to=JSON)


def _username(claims: Mapping[str, object]) -> Mapping[str, object]:
    """Return the user's name for people, where the caller sees it as a claim (RFC 7662 §2.2)."""
    name = claims.get("preferred_username")
    return {"username": name} if isinstance(name, str) else {}


def _name(caller: Caller) -> str:
    return caller.client_id if isinstance(caller, Client) else caller.name
