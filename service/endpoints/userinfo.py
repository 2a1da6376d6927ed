"""GET, POST /connect/userinfo: claims of the user whom an access token stands for (OIDC Core §5.3)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import ClassVar

import msgspec

from service.clients.keys import ClientAlgorithms, ClientKeys
from service.identity.users import Subjects
from service.keys.jwe import DEFAULT_ENC
from service.model.authorization import Authorization
from service.model.client import Client
from service.protocol.claims import ClaimsRequest
from service.protocol.errors import InsufficientScope, InvalidClient, InvalidToken
from service.protocol.paths import USERINFO
from service.protocol.scope import OPENID
from service.tokens.active import ActiveToken
from service.tokens.claims import askable, claims_of_scope, select_claims, without_protocol_claims
from service.tokens.subject import SubjectIdentifiers
from service.web.endpoint import (
    CLIENT_ORIGINS,
    Answer,
    Direct,
    Message,
    Route,
    json_answer,
    jwt_fields,
)
from service.web.key_proofs import TokenGuard

_JWT = jwt_fields("application/jwt")


class UserinfoEndpoint(msgspec.Struct, frozen=True, kw_only=True):
    """Returns the claims of the granted identity resources, and always `sub` (OIDC Core §5.3.2)."""

    takes_certificates: ClassVar[bool] = True
    guard: TokenGuard
    subjects: Subjects
    identifiers: SubjectIdentifiers
    keys: ClientKeys
    algorithms: ClientAlgorithms

    def routes(self) -> Iterable[Route]:
        for method in ("GET", "POST"):  # OIDC Core §5.3.1
            yield Direct(method, USERINFO, self.userinfo, scripts=CLIENT_ORIGINS)

    def metadata(self) -> Mapping[str, object]:
        return {"userinfo_endpoint": USERINFO, **self.algorithms.metadata("userinfo")}

    async def userinfo(self, request: Message) -> Answer:
        """Return the claims as JSON, or as the JWT that the client registered for."""
        token = await self.guard.find_token(request)
        if token.authorization is None:
            invalid = InvalidToken("the access token is not a user's")
            raise self.guard.add_challenge(invalid, request)
        if OPENID not in token.scope:
            insufficient = InsufficientScope("the access token does not have the scope openid")
            raise self.guard.add_challenge(insufficient, request, parameters=f', scope="{OPENID}"')
        user_claims = await self.subjects.find_claims(token.authorization) or {}
        client = None
        with suppress(InvalidClient):
            client = await self.guard.active_tokens.clients.resolve(str(token.claims["client_id"]))
        if client is None:  # a reload may have removed it since
            unknown = InvalidToken("the access token's client is unknown")
            raise self.guard.add_challenge(unknown, request)
        claims = self._select_claims(token, token.authorization, client, user_claims)
        jwt = await self._sign_and_encrypt(claims, client)
        headers = self.guard.proofs.nonce_for(request, client)
        if jwt is None:
            return json_answer(claims, headers=headers)
        return Answer(_JWT, jwt.encode(), headers=headers)

    def _select_claims(
        self,
        token: ActiveToken,
        authorization: Authorization,
        client: Client,
        user_claims: Mapping[str, object],
    ) -> dict[str, object]:
        """Return the claims of the scope and those that were requested individually (OIDC Core §5.4, §5.5).

        The individual ones are for the authorization's client alone, not for one with a delegated token.
        """
        is_own = authorization.client_id == client.client_id
        asked = (authorization.claims_request if is_own else None) or ClaimsRequest()
        registry = self.subjects.registry.current
        names = [
            *claims_of_scope(registry, token.scope),
            *askable(registry, client, asked.userinfo),
        ]
        further = select_claims(user_claims, names, asked.locales)
        if client.user_claims is not None:
            further |= client.user_claims.find(client.user_claims.userinfo, user_claims)
        claims = without_protocol_claims(further)
        return {**claims, "sub": self.identifiers.find_sub(client, str(token.subject))}

    async def _sign_and_encrypt(self, claims: Mapping[str, object], client: Client) -> str | None:
        """Return the JWT that the client registered for, if any (OIDC Core §5.3.2)."""
        jwt = None
        if client.userinfo_signed_response_alg is not None:
            key = self.keys.signing_key(client, client.userinfo_signed_response_alg)
            addressed = {**claims, "iss": self.guard.active_tokens.issuer, "aud": client.client_id}
            jwt = await key.sign(addressed, typ="JWT")
        alg = client.userinfo_encrypted_response_alg
        if alg is None:
            return jwt
        enc = client.userinfo_encrypted_response_enc or DEFAULT_ENC
        content, cty = (jwt.encode(), "JWT") if jwt else (msgspec.json.encode(claims), None)
        return await self.keys.encrypt(content, client, alg=alg, enc=enc, cty=cty)
