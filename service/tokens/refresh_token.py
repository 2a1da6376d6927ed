"""Mints refresh tokens, rotates them, and uses them up (RFC 6749 §6, RFC 9700 §4.14)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from service.model.authorization import Authorization
from service.model.client import Client
from service.model.handle import Handle
from service.model.one_time import RefreshToken, Spent
from service.protocol.errors import OAuthError
from service.store.stores import Stores
from service.tokens.family import first_token, is_of_family, successor
from service.tokens.granting import MintedRefreshToken, SingleUse
from service.tokens.sealed_claims import open_claims, seal_claims

SPENT_FOR = 60
"""Seconds for which a used token's marker outlives the reuse interval, for requests under way; then
the token itself shows that it was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshTokens:
    """Makes refresh tokens and the writes for them, which the issuer does in one step."""

    stores: Stores

    def begin(
        self,
        authorization: Authorization,
        client: Client,
        *,
        user_claims: Mapping[str, object],
        now: int,
    ) -> MintedRefreshToken:
        """Mint the first token of a family, which ends at the absolute lifetime at the latest."""
        handle = first_token(authorization)
        record = RefreshToken(
            seed=secrets.token_urlsafe(32),
            ends_at=now + client.absolute_refresh_token_lifetime,
            sealed_claims=seal_claims(user_claims, handle),
            # A confidential client has to authenticate anyway, and may change its key.
            cnf=authorization.cnf if client.is_public else None,
        )
        ttl = _lifetime(client, record, now=now)
        write = self.stores.refresh_tokens.put(record, handle.selector, handle.digest, ttl=ttl)
        return MintedRefreshToken(handle=handle, lifetime=ttl, writes=(write,))

    def rotate(
        self,
        handle: Handle,
        record: RefreshToken,
        authorization: Authorization,
        client: Client,
        *,
        now: int,
    ) -> MintedRefreshToken:
        """Mint the successor of a token that is used now, or was within the reuse interval."""
        following = successor(authorization, handle, record.seed)
        ttl = _lifetime(client, record, now=now)
        # Only where it does not exist yet: it may be in use, or spent already. But a repeat writes
        # it, too: the failure that lost the first answer may have lost the write.
        write = self.stores.refresh_tokens.put_new(
            RefreshToken(
                seed=secrets.token_urlsafe(32),
                ends_at=record.ends_at,
                sealed_claims=seal_claims(open_claims(record, handle), following),
                cnf=record.cnf,
            ),
            following.selector,
            following.digest,
            ttl=ttl,
        )
        return MintedRefreshToken(handle=following, lifetime=ttl, writes=(write,))

    def keep(
        self, handle: Handle, record: RefreshToken, client: Client, *, now: int
    ) -> MintedRefreshToken:
        """Return the same token, for a client whose tokens are not rotated; a sliding one lives on."""
        ttl = _lifetime(client, record, now=now)
        write = self.stores.refresh_tokens.extend(handle.selector, handle.digest, ttl=ttl)
        return MintedRefreshToken(handle=handle, lifetime=ttl, writes=(write,))

    def use_up(
        self,
        handle: Handle,
        record: RefreshToken,
        authorization: Authorization,
        client: Client,
        *,
        now: int,
        report_replay: Callable[[], OAuthError],
    ) -> SingleUse:
        """Return the atomic step that uses a token up.

        Of two requests that race only one wins; within the reuse interval both do, because both
        derive the same successor.
        """
        attempt = secrets.token_urlsafe(12)
        interval = client.refresh_token_reuse_interval
        marker = Spent(attempt=attempt, at=now, refresh_token=record if interval > 0 else None)

        def was_won(before: bytes | None) -> bool:
            if interval > 0 and before is not None:
                return True
            return self.stores.refresh_tokens.was_won(before, attempt=attempt)

        left = record.ends_at - now
        ttl = min(interval + SPENT_FOR, left) if is_of_family(handle, authorization) else left
        return SingleUse(
            swap=self.stores.refresh_tokens.spend(marker, handle.selector, handle.digest, ttl=ttl),
            was_won=was_won,
            report_replay=report_replay,
        )


def _lifetime(client: Client, record: RefreshToken, *, now: int) -> int:
    """Return the seconds that a refresh token lives if it is not used."""
    left = record.ends_at - now
    if client.refresh_token_expiration == "sliding":
        return min(client.sliding_refresh_token_lifetime, left)
    return left
