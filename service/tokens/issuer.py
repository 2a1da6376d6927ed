"""The only mint: makes the tokens of a granted request and the token response (RFC 6749 §5.1)."""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Mapping, Sequence

import msgspec

from service.clock import clock
from service.events.event import Emit
from service.events.tokens import TokenIssued
from service.model.authorization import Authorization
from service.model.client import Client
from service.protocol.authorization_details import types_of
from service.protocol.errors import TOKEN_RESPONSE_MEMBERS
from service.protocol.scope import OPENID
from service.store.verbs import Command
from service.tokens.access_token import AccessTokens, MintedToken
from service.tokens.exchanged import ExchangedTokens
from service.tokens.granting import (
    ContinuedGrant,
    DerivationSource,
    DerivedGrant,
    ExchangedGrant,
    GrantSuccess,
    NewGrant,
    TokenRequest,
)
from service.tokens.id_token import HashedArtifacts, IdTokens
from service.tokens.liveness import (
    Revocation,
    ask_end,
    begin,
    drop,
    is_ended,
    is_reference,
    make_room,
    prolong,
)
from service.tokens.refresh_token import (
    MintedRefreshToken,
    begin_family,
    begins_family,
    expiration_members,
    present,
)


class TokenIssuer(msgspec.Struct, frozen=True, kw_only=True):
    """Mints the tokens of a grant and makes them active in one round trip."""

    access_tokens: AccessTokens
    id_tokens: IdTokens
    exchanged: ExchangedTokens
    revocation: Revocation
    expiration_members: bool
    """Whether every client learns when its refresh tokens expire."""
    emit: Emit

    def issue(
        self, request: TokenRequest, grant: GrantSuccess, *, user_claims: Mapping[str, object]
    ) -> Awaitable[dict[str, object]]:
        """Return the token response; raise if another request has used the code or token first."""
        if type(grant) is ContinuedGrant:  # `isinstance` takes longer where it is another struct
            return self._issue_continued(request, grant, user_claims)
        if type(grant) is ExchangedGrant:
            return self._issue_exchanged(request, grant, user_claims)
        return self._issue(request, grant, user_claims)

    def _respond(
        self,
        request: TokenRequest,
        authorization: Authorization,
        access: MintedToken,
        *,
        refresh: MintedRefreshToken | None,
        id_token: str | None = None,
    ) -> dict[str, object]:
        """Emit that these tokens were issued, and return the response with them."""
        self.emit(
            TokenIssued(
                client_id=authorization.client_id,
                grant_type=request.grant_type,
                subject=authorization.subject,
                scope=access.target.scope,
                refreshable=refresh is not None,
                authorization_details_types=types_of(access.authorization_details),
            )
        )
        response = access.describe()
        if refresh is not None:
            response["refresh_token"] = present(refresh, request.client)
            tells = self.expiration_members or request.client.token_expiration_members
            if tells and authorization.is_offline:  # else the session decides, too
                response |= expiration_members(refresh)
        if id_token is not None:
            response["id_token"] = id_token
        return response

    async def _issue_exchanged(
        self, request: TokenRequest, grant: ExchangedGrant, user_claims: Mapping[str, object]
    ) -> dict[str, object]:
        """Return the response with a token other than an access token (RFC 8693 §2.2.1)."""
        if grant.origin is not None:
            targets = self.access_tokens.targets
            targets.require_acr(request.client, frozenset(), grant.origin)
        response = await self.exchanged.mint(grant, request.client, user_claims)
        self.emit(
            TokenIssued(
                client_id=request.client.client_id,
                grant_type=request.grant_type,
                subject=grant.authorization.subject,
                scope=tuple(sorted(grant.authorization.scope)),
                refreshable=grant.token == "refresh_token",
            )
        )
        return response

    async def _issue(
        self,
        request: TokenRequest,
        grant: NewGrant | DerivedGrant,
        user_claims: Mapping[str, object],
    ) -> dict[str, object]:
        authorization, client, members = grant.authorization, request.client, grant.members
        derived = grant if isinstance(grant, DerivedGrant) else None
        access = await self.access_tokens.mint(
            authorization,
            client,
            target=self.access_tokens.targets.find_for(grant, client),
            user_claims=user_claims,
            always_jwt=grant.always_jwt,
            at_most=grant.lifetime,
            ends_at=sys.maxsize if derived is None else derived.source.expires_at,
        )
        if access.lifetime < 1:
            raise grant.refusal("the token has expired meanwhile")
        refresh = None
        if not isinstance(grant, DerivedGrant):
            refresh = self._begin_family(authorization, client, access, user_claims)
            await self._store(grant, access, refresh)
        else:
            *_, count = await self.revocation.stores.kv.write(*self._derive(grant.source, access))
            if count < 1:
                raise grant.refusal("the token has been revoked")
            if count > self.revocation.stores.delegated.limit:
                await self._make_room_below(grant.source, access, count)
        response = self._respond(request, authorization, access, refresh=refresh)
        if not members:
            return response
        own = members.keys() - TOKEN_RESPONSE_MEMBERS
        return response | {name: members[name] for name in members if name in own}

    def _begin_family(
        self,
        authorization: Authorization,
        client: Client,
        access: MintedToken,
        user_claims: Mapping[str, object],
    ) -> MintedRefreshToken | None:
        """Return the first refresh token that comes with an access token, if there is to be one."""
        if not begins_family(authorization, client):
            return None
        stores, targets = self.revocation.stores, self.access_tokens.targets
        kept = targets.claims_to_keep(authorization, client, user_claims)
        return begin_family(stores, authorization, client, kept, access_lifetime=access.lifetime)

    async def _store(
        self, grant: NewGrant, access: MintedToken, refresh: MintedRefreshToken | None
    ) -> None:
        """Write an authorization that begins now, and its tokens; refuse the grant if all access of its user has ended since the user was proven."""
        authorization, stores = grant.authorization, self.revocation.stores
        subject, since = authorization.subject, min(authorization.created_at, grant.proven_at)
        if subject is None:
            await stores.kv.write(*access.writes)
            return
        writes = begin(stores, authorization, ttl=_needed_for(access, refresh))
        writes += (*_writes_of(access, refresh), ask_end(stores, subject))
        count, *_, end = await stores.kv.write(*writes)
        if is_ended(stores, end, since=since):
            await stores.kv.write(*drop(stores, authorization))
            raise grant.refusal("all access of the user has ended since: the user has to sign in")
        await make_room(stores, authorization, count=count, emit=self.emit)

    async def _issue_continued(
        self, request: TokenRequest, grant: ContinuedGrant, user_claims: Mapping[str, object]
    ) -> dict[str, object]:
        """Use the code or refresh token up in the same round trip, after all other writes.

        So it can be used again if a write was refused, or if another server of a Cluster was away.
        A request that loses a race has written tokens of an authorization that is revoked at once:
        they never were active, and nobody ever sees them.
        """
        authorization, client, single_use = grant.authorization, request.client, grant.single_use
        stores = self.revocation.stores
        access = await self.access_tokens.mint(
            authorization,
            client,
            target=self.access_tokens.targets.find_for(grant, client),
            user_claims=user_claims if grant.user_claims is None else grant.user_claims,
        )
        refresh = grant.refresh_token
        if refresh is None:
            refresh = self._begin_family(authorization, client, access, user_claims)
        id_token = None
        if grant.issue_id_token and OPENID in grant.scope:  # OIDC Core §3.1.3.3, §12.2
            hashed = HashedArtifacts(access_token=access.token, access_token_sha256=access.sha256)
            id_token = await self.id_tokens.mint(
                authorization,
                client,
                hashed,
                nonce=grant.nonce,
                user_claims=user_claims,
                now=clock(),
            )
        writes: list[Command] = []
        if refresh is None or refresh.stored_until < refresh.authorization_until:
            writes += prolong(stores, authorization, ttl=_needed_for(access, refresh))
        writes += (*_writes_of(access, refresh), *grant.session_use)
        if single_use is not None:
            writes += (*single_use.others, single_use.swap)
        once = single_use is not None or grant.refresh_token is not None
        answers = await stores.kv.write(*writes, durable=once)
        if single_use is not None and not single_use.was_won(answers[-1]):
            raise await self.revocation.refuse_replay(authorization, single_use.replay)
        return self._respond(request, authorization, access, refresh=refresh, id_token=id_token)

    def _derive(self, source: DerivationSource, access: MintedToken) -> Sequence[Command]:
        """Return what writes a token, and where a revocation of its source finds it.

        The last answer is less than one if the source was revoked since it was read, and else may be the number of tokens
        that are derived from it.
        """
        stores, selector, name = self.revocation.stores, source.selector, source.name
        if name is None:
            # Only its authorization can end such a source; without that, this token is inactive, too.
            return *access.writes, stores.authorizations.exists(selector)
        # A reference token is active while its record exists, a JWT while no revocation does.
        exists_while_active = is_reference(name)
        fate = stores.access_tokens if exists_while_active else stores.revoked
        write = stores.delegated.add_if(
            *(selector, access.name, name),
            expires_at=access.expires_at,
            source=fate.key(selector, name),
            exists=exists_while_active,
            write=access.writes[0] if access.writes else None,
        )
        return (write,)

    async def _make_room_below(
        self, source: DerivationSource, access: MintedToken, count: int
    ) -> None:
        """Revoke the tokens that expire first where too many were derived from one."""
        stores, selector, name = self.revocation.stores, source.selector, source.name or ""
        surplus = await stores.find_surplus(stores.delegated, selector, name, count=count)
        names = [one for one in surplus if one != access.name]
        if names:
            await self.revocation.revoke(selector, *names, expires_at=source.expires_at)
            await stores.kv.write(stores.delegated.remove(selector, *names, digest=name))


def _writes_of(access: MintedToken, refresh: MintedRefreshToken | None) -> list[Command]:
    """Return what writes the tokens of a response."""
    return [*access.writes] if refresh is None else [*access.writes, refresh.write]


def _needed_for(access: MintedToken, refresh: MintedRefreshToken | None) -> int:
    """Return the seconds for which the tokens need their authorization."""
    return access.lifetime if refresh is None else refresh.authorization_until - clock()
