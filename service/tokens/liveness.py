"""The writes that let an authorization live, and be found by who may end it."""

from __future__ import annotations

from service.model.authorization import Authorization
from service.model.events import AuthorizationEnded, Emit
from service.model.handle import digest
from service.store.stores import Stores
from service.store.verbs import Write


def begin(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Write]:
    """Write the authorization's record for `ttl` seconds, and note whose it is.

    One without a user has none: nothing but its one access token ever comes of it.
    """
    if authorization.subject is None:
        return []
    record = stores.authorizations.put(authorization, authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl=ttl, now=now), record]


def prolong(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Write]:
    """Let it live `ttl` seconds from now; one that was revoked meanwhile stays revoked."""
    record = stores.authorizations.extend(authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl=ttl, now=now), record]


async def make_room(stores: Stores, newcomer: Authorization, *, count: int, emit: Emit) -> None:
    """End what expires first, where that makes too many authorizations of one person."""
    subject, listed = digest(str(newcomer.subject)), stores.subject_authorizations
    surplus = await stores.surplus(listed, subject, count=count)
    ids = [one for one in surplus if one != newcomer.id]
    if not ids:
        return
    found = await stores.kv.read(*[stores.authorizations.read(one) for one in ids])
    ended = [one for one in found if one is not None]
    await stores.kv.write(
        *[stores.authorizations.drop(one) for one in ids],
        *[listed.remove(subject, one) for one in ids],
        *[
            stores.session_authorizations.remove(one.session_id, one.id)
            for one in ended
            if one.session_id is not None
        ],
    )
    for one in ended:
        emit(
            AuthorizationEnded(
                authorization_id=one.id, client_id=one.client_id, subject=one.subject
            )
        )


def _index(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Write]:
    expires_at = now + ttl
    subject = digest(str(authorization.subject))
    entries: list[Write] = [
        stores.subject_authorizations.add(subject, authorization.id, expires_at=expires_at, now=now)
    ]
    if authorization.session_id is not None and not authorization.offline:
        entries.append(
            stores.session_authorizations.add(
                authorization.session_id, authorization.id, expires_at=expires_at, now=now
            )
        )
    return entries
