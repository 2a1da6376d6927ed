"""Refresh token families: how one begins, goes on, and ends (RFC 6749 §6, RFC 9700 §4.14)."""

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
from service.tokens.granting import Rotation, Spending
from service.tokens.sealed_claims import open_claims, seal_claims

SPENT_FOR = 60
"""Seconds for which a used token's marker outlives the reuse interval, for requests under way; then
the token shows by itself that it was used."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RefreshTokens:
    """Begins and rotates refresh tokens; nothing is written here, the issuer does it all in one step."""

    stores: Stores

    def begin(
        self,
        authorization: Authorization,
        client: Client,
        *,
        user_claims: Mapping[str, object],
        now: int,
    ) -> Rotation:
        """The first token of a family, which ends at the absolute lifetime whatever happens."""
        handle = first_token(authorization)
        record = RefreshToken(
            seed=secrets.token_urlsafe(32),
            ends_at=now + client.absolute_refresh_token_lifetime,
            sealed_claims=seal_claims(user_claims, handle),
            cnf=authorization.cnf if client.is_public else None,
        )
        seconds = lifetime(client, record, now=now)
        write = self.stores.refresh_tokens.put(record, handle.selector, handle.digest, ttl=seconds)
        return Rotation(handle=handle, lifetime=seconds, writes=(write,))

    def rotate(
        self,
        handle: Handle,
        record: RefreshToken,
        authorization: Authorization,
        client: Client,
        *,
        now: int,
    ) -> Rotation:
        """The successor of a token that is being spent, or was within the reuse interval."""
        following = successor(authorization, handle, record.seed)
        seconds = lifetime(client, record, now=now)
        # Only where it is not there yet: it may be in use, or spent already. But a repeat writes it
        # too: whatever kept the first answer from arriving may have kept Redis from writing it.
        write = self.stores.refresh_tokens.put_new(
            RefreshToken(
                seed=secrets.token_urlsafe(32),
                ends_at=record.ends_at,
                sealed_claims=seal_claims(open_claims(record, handle), following),
                cnf=record.cnf,
            ),
            following.selector,
            following.digest,
            ttl=seconds,
        )
        return Rotation(handle=following, lifetime=seconds, writes=(write,))

    def keep(self, handle: Handle, record: RefreshToken, client: Client, *, now: int) -> Rotation:
        """The same token again, for a client whose tokens are not rotated; a sliding one slides."""
        seconds = lifetime(client, record, now=now)
        write = self.stores.refresh_tokens.extend(handle.selector, handle.digest, ttl=seconds)
        return Rotation(handle=handle, lifetime=seconds, writes=(write,))

    def spending(
        self,
        handle: Handle,
        record: RefreshToken,
        authorization: Authorization,
        client: Client,
        *,
        now: int,
        replayed: Callable[[], OAuthError],
    ) -> Spending:
        """The one atomic step that uses a token up.

        Two requests that race are told apart by their attempts; within the reuse interval both
        win, because both derive the same successor.
        """
        attempt = secrets.token_urlsafe(12)
        interval = client.refresh_token_reuse_interval
        lenient = interval > 0
        marker = Spent(attempt=attempt, at=now, refresh_token=record if lenient else None)

        def won(before: bytes | None) -> bool:
            if lenient and before is not None:
                return True
            return self.stores.refresh_tokens.was_won(before, attempt=attempt)

        left = record.ends_at - now
        known_again = is_of_family(handle, authorization)
        swap = self.stores.refresh_tokens.spend(
            marker,
            handle.selector,
            handle.digest,
            ttl=min(interval + SPENT_FOR, left) if known_again else left,
        )
        return Spending(swap=swap, won=won, replayed=replayed)


def lifetime(client: Client, record: RefreshToken, *, now: int) -> int:
    """How many seconds a refresh token lives if it is not used."""
    left = record.ends_at - now
    if client.refresh_token_expiration == "sliding":
        return min(client.sliding_refresh_token_lifetime, left)
    return left
