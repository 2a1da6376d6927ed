"""Mints the tokens of an exchange other than access tokens: refresh tokens, ID tokens and what grants compose (RFC 8693 §2.2.1)."""

from __future__ import annotations

import sys
from collections.abc import Mapping

import msgspec

from service.clock import clock
from service.events.event import Emit
from service.model.client import Client
from service.protocol.errors import InvalidGrant, InvalidRequest, InvalidScope
from service.protocol.scope import format_scope
from service.protocol.token_types import NOT_APPLICABLE
from service.tokens.granting import ExchangedGrant
from service.tokens.id_token import HashedArtifacts, IdTokens
from service.tokens.liveness import (
    Revocation,
    ask_end,
    begin,
    drop,
    find_source,
    is_ended,
    make_room,
)
from service.tokens.refresh_token import begin_family, begins_family, present
from service.tokens.target import Targets

_ENDED = "subject_token has ended meanwhile"


class ExchangedTokens(msgspec.Struct, frozen=True, kw_only=True):
    id_tokens: IdTokens
    revocation: Revocation
    targets: Targets
    emit: Emit

    async def mint(
        self, grant: ExchangedGrant, client: Client, user_claims: Mapping[str, object]
    ) -> dict[str, object]:
        """Return the response, in which the token is the `access_token` whatever its type."""
        now = clock()
        if grant.expires_at <= now:
            raise InvalidRequest(_ENDED)
        if grant.token == "refresh_token":
            token, lifetime = await self._begin_family(grant, client, user_claims)
        elif grant.token == "id_token":
            await self._require_access(grant)
            token = await self.id_tokens.mint(
                grant.authorization,
                client,
                HashedArtifacts(),
                nonce=None,
                user_claims=user_claims,
                now=now,
                ends_at=grant.expires_at,
            )
            lifetime = min(client.identity_token_lifetime, grant.expires_at - now)
        else:
            key = self.id_tokens.keys.ring.signing_key(client.default_signing_alg)
            token = await key.sign(grant.token.claims, typ=grant.token.typ)
            lifetime = grant.expires_at - int(str(grant.token.claims["iat"]))
        scope = format_scope(grant.authorization.scope)
        return {
            "access_token": token,
            "token_type": NOT_APPLICABLE,
            "expires_in": lifetime,
            **({"scope": scope} if scope else {}),
            **grant.members,
        }

    async def _begin_family(
        self, grant: ExchangedGrant, client: Client, user_claims: Mapping[str, object]
    ) -> tuple[str, int]:
        """Store an authorization with its first refresh token; end it if its source has ended meanwhile."""
        authorization, stores = grant.authorization, self.revocation.stores
        if not begins_family(authorization, client):
            raise InvalidScope("the scope allows no refresh token")
        kept = self.targets.claims_to_keep(authorization, client, user_claims)
        refresh = begin_family(stores, authorization, client, kept)
        writes = begin(stores, authorization, ttl=refresh.lifetime)
        ask = ask_end(stores, str(authorization.subject))
        count, *_, end = await stores.kv.write(*writes, refresh.write, ask)
        try:
            self._judge_end(grant, end)
            await find_source(stores, authorization.source)
        except InvalidGrant as ended:
            await stores.kv.write(*drop(stores, authorization), durable=True)
            raise InvalidRequest(_ENDED) from ended
        await make_room(stores, authorization, count=count, emit=self.emit)
        return present(refresh, client), refresh.lifetime

    async def _require_access(self, grant: ExchangedGrant) -> None:
        """Raise InvalidRequest if a subject token that no record stands for was made before all access of its user ended."""
        if grant.proven_at == sys.maxsize:
            return
        stores, subject = self.revocation.stores, str(grant.authorization.subject)
        (end,) = await stores.kv.write(ask_end(stores, subject))
        try:
            self._judge_end(grant, end)
        except InvalidGrant as ended:
            raise InvalidRequest(_ENDED) from ended

    def _judge_end(self, grant: ExchangedGrant, end: bytes | None) -> None:
        since = min(grant.authorization.created_at, grant.proven_at)
        if is_ended(self.revocation.stores, end, since=since):
            raise InvalidGrant("all access of the user has ended since")
