"""The writes that let an authorization live, and be found by who may end it."""

from __future__ import annotations

from service.model.authorization import Authorization
from service.model.events import AuthorizationEnded, Emit
from service.model.handle import digest
from service.store.stores import Stores
from service.store.verbs import Command

LOOKED_AT = 250
"""Authorizations at either end of a person's index that are looked at for some to end."""


def begin(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Command]:
    """Write the authorization's record for `ttl` seconds, and note whose it is.

    One without a user has none: nothing but its one access token ever comes of it.
    """
    if authorization.subject is None:
        return []
    record = stores.authorizations.put(authorization, authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl=ttl, now=now), record]


def prolong(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Command]:
    """Let it live `ttl` seconds from now; one that was revoked meanwhile stays revoked."""
    record = stores.authorizations.extend(authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl=ttl, now=now), record]


async def make_room(stores: Stores, newcomer: Authorization, *, count: int, emit: Emit) -> None:
    """End what expires first, where that makes too many authorizations of one person.

    Those of the newcomer's own client go before all others: no client shall push others out.
    """
    subject, listed = digest(str(newcomer.subject)), stores.subject_authorizations
    surplus = await stores.find_surplus(listed, subject, count=count)
    if not surplus:
        return
    near = await _near_the_ends(stores, subject, without=newcomer.id)
    leaving = sorted(near, key=lambda one: _rank(one[1], newcomer))[: len(surplus)]
    ids = [authorization_id for authorization_id, _ in leaving]
    ended = [one for _, one in leaving if one is not None]
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


async def _near_the_ends(
    stores: Stores, subject: str, *, without: str
) -> list[tuple[str, Authorization | None]]:
    """Those of a person that expire first, and those that expire last.

    Who has made nearly all of ten thousand has some among these, however long they live.
    """
    listed = stores.subject_authorizations
    first, last = await stores.kv.write(
        listed.first(subject, count=LOOKED_AT), listed.last(subject, count=LOOKED_AT)
    )
    ids = [one.decode() for one in dict.fromkeys((*first, *last))]
    ids = [one for one in ids if one != without]
    found = await stores.kv.read(*[stores.authorizations.read(one) for one in ids])
    return list(zip(ids, found, strict=True))


def _rank(authorization: Authorization | None, newcomer: Authorization) -> int:
    """In which order they leave: what is over already, the client's own, those of others."""
    if authorization is None:
        return 0
    return 1 if authorization.client_id == newcomer.client_id else 2


def _index(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Command]:
    expires_at = now + ttl
    subject = digest(str(authorization.subject))
    entries: list[Command] = [
        stores.subject_authorizations.add(subject, authorization.id, expires_at=expires_at, now=now)
    ]
    if authorization.session_id is not None and not authorization.offline:
        entries.append(
            stores.session_authorizations.add(
                authorization.session_id, authorization.id, expires_at=expires_at, now=now
            )
        )
    return entries
