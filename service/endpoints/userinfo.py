"""GET, POST /connect/userinfo: claims of the user whom an access token stands for (OIDC Core §5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import orjson

from service.clients.algorithms import ClientAlgorithms
from service.clients.directory import Clients
from service.clients.keys import ClientKeys
from service.http.answer import Answer, json_answer, jwt_fields
from service.http.credentials import bearer_token
from service.http.endpoint import Direct
from service.http.message import Message
from service.http.parameters import FORM, form_params, media_type
from service.identity.subjects import Subjects
from service.keys.jwe import DEFAULT_ENC
from service.model.client import Client
from service.model.registry import LiveRegistry
from service.protocol.challenge import bearer_challenge
from service.protocol.errors import (
    InsufficientScope,
    InvalidRequest,
    InvalidToken,
    MissingToken,
    OAuthError,
    TemporarilyUnavailable,
)
from service.protocol.scope import OPENID
from service.tokens.active import ActiveToken, ActiveTokens
from service.tokens.claims import identity_claims, individual_claims
from service.tokens.subject import SubjectIdentifiers

PATH = "/connect/userinfo"
_JWT = jwt_fields("application/jwt")


@dataclass(frozen=True, slots=True, kw_only=True)
class UserinfoEndpoint:
    """Tells the claims of the granted identity resources, and always `sub` (OIDC Core §5.3.2)."""

    active_tokens: ActiveTokens
    subjects: Subjects
    identifiers: SubjectIdentifiers
    registry: LiveRegistry
    clients: Clients
    keys: ClientKeys
    algorithms: ClientAlgorithms

    def routes(self) -> Iterable[Direct]:
        """GET and POST (OIDC Core §5.3.1)."""
        return (Direct("GET", PATH, self.userinfo), Direct("POST", PATH, self.userinfo))

    def metadata(self) -> Mapping[str, object]:
        """Where it is."""
        return {
            "userinfo_endpoint": PATH,
            **self.algorithms.metadata("userinfo"),
        }

    async def userinfo(self, request: Message) -> Answer:
        """The claims as JSON, or signed and encrypted for a client that registered for that."""
        try:
            token = await self._token(await _bearer_token(request))
            user_claims = await self._of_user(token)
            client = await self._client_of(token)
            claims = self._told(token, client, user_claims)
        except TemporarilyUnavailable:
            raise
        except OAuthError as error:
            error.headers = bearer_challenge(self.active_tokens.issuer, error)
            raise
        jwt = await self._jwt(claims, client)
        if jwt is None:
            return json_answer(claims)
        return Answer(_JWT, jwt.encode())

    async def _jwt(self, claims: Mapping[str, object], client: Client) -> str | None:
        """The claims as the client is registered for: signed, encrypted, or the one in the other."""
        signed = await self._signed(claims, client)
        alg = client.metadata.get("userinfo_encrypted_response_alg")
        if alg is None:
            return signed
        enc = client.metadata.get("userinfo_encrypted_response_enc", DEFAULT_ENC)
        content, cty = (signed.encode(), "JWT") if signed else (orjson.dumps(claims), None)
        return await self.keys.encrypt(content, client, alg=str(alg), enc=str(enc), cty=cty)

    async def _signed(self, claims: Mapping[str, object], client: Client) -> str | None:
        """The claims as a JWT for this client (OIDC Core §5.3.2)."""
        if client.userinfo_signed_response_alg is None:
            return None
        key = self.keys.signing_key(client, client.userinfo_signed_response_alg)
        addressed = {**claims, "iss": self.active_tokens.issuer, "aud": client.client_id}
        return await key.sign(addressed, typ="JWT")

    async def _token(self, text: str) -> ActiveToken:
        token = await self.active_tokens.find(text)
        if token is None or token.authorization is None:
            raise InvalidToken("the access token is expired, revoked or malformed")
        if OPENID not in token.scope:
            raise InsufficientScope("the access token does not have the scope openid")
        return token

    async def _client_of(self, token: ActiveToken) -> Client:
        """The client, which a reload may just have removed."""
        client = await self.clients.find(str(token.claims["client_id"]))
        if client is None:
            raise InvalidToken("the access token's client is registered no more")
        return client

    async def _of_user(self, token: ActiveToken) -> Mapping[str, object]:
        if token.authorization is None:
            return {}
        return await self.subjects.claims_of(token.authorization) or {}

    def _told(
        self, token: ActiveToken, client: Client, user_claims: Mapping[str, object]
    ) -> dict[str, object]:
        """What the scope stands for and what the client asked for by name (OIDC Core §5.4, §5.5).

        A delegated token is its own client's, for which nobody asked.
        """
        registry, authorization = self.registry.current, token.authorization
        own = authorization is not None and authorization.client_id == client.client_id
        asked = authorization.claims_request if authorization is not None and own else None
        told = identity_claims(registry, token.scope, user_claims, asked)
        if asked is not None:
            names, locales = asked.userinfo, asked.locales
            told |= individual_claims(registry, client, names, user_claims, locales)
        return {**told, "sub": self.identifiers.of(client, str(token.subject))}


async def _bearer_token(request: Message) -> str:
    """The token in the header or the form body, and never in the query (RFC 6750 §2)."""
    in_header = bearer_token(request)
    in_body = None
    if request.method == "POST" and media_type(request) == FORM:
        in_body = (await form_params(request)).get("access_token")
    if in_header and in_body:
        raise InvalidRequest("the access token is sent in more than one way")
    if not in_header and not in_body:
        raise MissingToken("the request holds no access token")
    return in_header or in_body or ""
