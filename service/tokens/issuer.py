"""The only mint: every token response begins here with an authorization (RFC 6749 §5.1)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from service.model.authorization import Authorization
from service.model.client import Client
from service.model.events import Emit
from service.model.token_events import TokenIssued
from service.protocol.errors import InvalidGrant
from service.protocol.scope import OFFLINE_ACCESS, OPENID
from service.store.stores import Stores
from service.store.verbs import Write
from service.tokens.access_token import AccessTokens, MintedToken
from service.tokens.active import ActiveToken
from service.tokens.audience import Target, Targets
from service.tokens.granting import GrantSuccess, Rotation
from service.tokens.id_token import Accompanied, IdTokens
from service.tokens.liveness import begin, make_room, prolong
from service.tokens.refresh_token import RefreshTokens
from service.tokens.response import TokenResponse
from service.tokens.revocation import Revocation


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenIssuer:
    """Mints all tokens of one success and makes them active in one round trip."""

    access_tokens: AccessTokens
    id_tokens: IdTokens
    refresh_tokens: RefreshTokens
    revocation: Revocation
    targets: Targets
    stores: Stores
    emit: Emit
    now: Callable[[], int]

    async def issue(
        self, success: GrantSuccess, client: Client, *, user_claims: Mapping[str, object]
    ) -> TokenResponse:
        """The tokens of this success; InvalidGrant where its single use was somebody else's."""
        now = self.now()
        authorization = success.authorization
        known = user_claims if success.user_claims is None else success.user_claims
        access = await self.access_tokens.mint(
            authorization,
            client,
            self._target(success),
            user_claims=known,
            lifetime=_lifetime(success, client, now),
            now=now,
        )
        refresh = success.rotation or self._first_refresh_token(authorization, client, known, now)
        id_token = None
        if success.identifies and OPENID in authorization.scope:  # OIDC Core §3.1.3.3
            beside = Accompanied(nonce=success.nonce, access_token=access.token)
            id_token = await self.id_tokens.mint(
                authorization, client, beside, user_claims=user_claims, now=now
            )
        if success.source is not None:
            await self._make_active_below(success.source, access, now)
        else:
            await self._make_active(success, access, refresh, now)
        self.emit(
            TokenIssued(
                client_id=client.client_id,
                grant_type=success.grant_type,
                subject=authorization.subject,
                scope=access.scope,
                refreshable=refresh is not None,
            )
        )
        return TokenResponse(
            access=access,
            expires_in=access.expires_at - now,
            refresh_token=refresh.handle.text if refresh else None,
            id_token=id_token,
            members=success.members,
        )

    def _target(self, success: GrantSuccess) -> Target:
        """Where the access token may be used, which may be less than what was authorized."""
        authorization = success.authorization
        scope = authorization.scope if success.scope is None else success.scope
        resources = authorization.resources if success.resources is None else success.resources
        return self.targets.of(scope, resources)

    def _first_refresh_token(
        self,
        authorization: Authorization,
        client: Client,
        user_claims: Mapping[str, object],
        now: int,
    ) -> Rotation | None:
        """A family begins where offline_access was granted, and only there (OIDC Core §11)."""
        if OFFLINE_ACCESS not in authorization.scope or authorization.subject is None:
            return None
        return self.refresh_tokens.begin(authorization, client, user_claims=user_claims, now=now)

    async def _make_active(
        self, success: GrantSuccess, access: MintedToken, refresh: Rotation | None, now: int
    ) -> None:
        """Spend and write in one round trip.

        Who loses a race has written tokens of an authorization that is ended at once, so they
        never were active and nobody ever sees them.
        """
        lifetime = max(access.expires_at - now, refresh.lifetime if refresh else 0)
        writes: list[Write] = [success.spends.swap] if success.spends else []
        keep = begin if success.begins else prolong
        writes += keep(self.stores, success.authorization, ttl=lifetime, now=now)
        writes += [*access.writes, *(refresh.writes if refresh else ())]
        once = success.spends is not None or success.rotation is not None
        answers = await self.stores.kv.write(*writes, durable=once) if writes else []
        if success.spends is not None and not success.spends.won(answers[0]):
            await self.revocation.end_authorization(success.authorization.id)
            raise success.spends.replayed()
        if success.begins and success.authorization.subject is not None:
            await make_room(self.stores, success.authorization, count=answers[0], emit=self.emit)

    async def _make_active_below(self, source: ActiveToken, access: MintedToken, now: int) -> None:
        """Write a token that dies with its source, and undo it if the source has died meanwhile.

        The index comes first: from then on who revokes the source finds this token too.
        """
        stores, selector, name = self.stores, source.selector, source.name
        is_reference = source.reference is not None
        # A reference token lives while its record is there, a JWT while no revocation is.
        fate = stores.access_tokens if is_reference else stores.revoked
        answers = await stores.kv.write(
            stores.delegated.add(
                selector, access.name, name, expires_at=access.expires_at, now=now
            ),
            *access.writes,
            fate.exists(selector, name),
        )
        if bool(answers[-1]) is not is_reference:
            await self.revocation.drop(access.selector, access.name, expires_at=access.expires_at)
            raise InvalidGrant("the token has been revoked")
        if answers[0] > stores.delegated.most:
            await self._make_room_below(source, access, answers[0])

    async def _make_room_below(self, source: ActiveToken, access: MintedToken, count: int) -> None:
        """Revoke what expires first where too many tokens were made from one."""
        delegated, selector = self.stores.delegated, source.selector
        surplus = await self.stores.surplus(delegated, selector, source.name, count=count)
        names = [name for name in surplus if name != access.name]
        if names:
            await self.revocation.drop(selector, *names, expires_at=source.expires_at)
            await self.stores.kv.write(
                *[delegated.remove(selector, name, source.name) for name in names]
            )


def _lifetime(success: GrantSuccess, client: Client, now: int) -> int:
    """Seconds of the access token: the shortest that registration, grant and source allow."""
    lifetime = client.access_token_lifetime
    if success.lifetime is not None:
        lifetime = min(lifetime, success.lifetime)
    if success.source is not None:
        lifetime = min(lifetime, success.source.expires_at - now)
    if lifetime < 1:
        raise InvalidGrant("the token has expired meanwhile")
    return lifetime
