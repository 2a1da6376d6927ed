"""Mints refresh tokens, rotates them, and uses them up (RFC 6749 §6, RFC 9700 §4.14).

Nothing is written here: the issuer writes all that belongs to one response in one step.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping

from service.model.authorization import Authorization, RefreshToken, Spent
from service.model.client import Client
from service.protocol.errors import OAuthError
from service.store.stores import Stores
from service.tokens.active import ActiveRefreshToken
from service.tokens.family import first_token, is_of_family, successor
from service.tokens.granting import MintedRefreshToken
from service.tokens.sealed_claims import open_claims, seal_claims
from service.tokens.single_use import SingleUse, use_once

SPENT_FOR = 60
"""Seconds for which a used token's marker outlives the reuse interval, for requests under way; then
the token itself shows that it was used."""


def begin_family(
    stores: Stores,
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
    ttl = _lifetime(client, record, now)
    write = stores.refresh_tokens.put(record, handle.selector, handle.digest, ttl=ttl)
    return MintedRefreshToken(handle=handle, lifetime=ttl, writes=(write,))


def rotate(
    stores: Stores, token: ActiveRefreshToken, client: Client, now: int
) -> MintedRefreshToken:
    """Mint the successor of a token that is used now, or was within the reuse interval."""
    following = successor(token.authorization, token.handle, token.record.seed)
    record = RefreshToken(
        seed=secrets.token_urlsafe(32),
        ends_at=token.record.ends_at,
        sealed_claims=seal_claims(open_claims(token.record, token.handle), following),
        cnf=token.record.cnf,
    )
    ttl = _lifetime(client, record, now)
    # Only where it does not exist yet: it may be in use, or spent already. But a repeat writes it,
    # too: the failure that lost the first answer may have lost the write.
    write = stores.refresh_tokens.put_new(record, following.selector, following.digest, ttl=ttl)
    return MintedRefreshToken(handle=following, lifetime=ttl, writes=(write,))


def keep(stores: Stores, token: ActiveRefreshToken, client: Client, now: int) -> MintedRefreshToken:
    """Return the same token, for a client whose tokens are not rotated; a sliding one lives on."""
    ttl = _lifetime(client, token.record, now)
    write = stores.refresh_tokens.extend(token.handle.selector, token.handle.digest, ttl=ttl)
    return MintedRefreshToken(handle=token.handle, lifetime=ttl, writes=(write,))


def use_up(
    stores: Stores,
    token: ActiveRefreshToken,
    client: Client,
    now: int,
    *,
    report_replay: Callable[[], OAuthError],
) -> SingleUse:
    """Return the single use of a token, which within the reuse interval can be repeated.

    Of two requests that race only one wins, or both, because both derive the same successor.
    """
    interval = client.refresh_token_reuse_interval
    is_repeatable = interval > 0
    marker = Spent(
        attempt=secrets.token_urlsafe(12),
        at=now,
        refresh_token=token.record if is_repeatable else None,
    )
    ttl = token.record.ends_at - now
    if is_of_family(token.handle, token.authorization):
        ttl = min(interval + SPENT_FOR, ttl)
    return use_once(
        stores.refresh_tokens,
        token.handle,
        marker,
        ttl=ttl,
        is_repeatable=is_repeatable,
        report_replay=report_replay,
    )


def _lifetime(client: Client, record: RefreshToken, now: int) -> int:
    """Return the seconds that a refresh token lives if it is not used."""
    left = record.ends_at - now
    if client.refresh_token_expiration == "sliding":
        return min(client.sliding_refresh_token_lifetime, left)
    return left
