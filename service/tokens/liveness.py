"""Writes authorizations and the indexes of a user's and a session's authorizations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from service.model.authorization import Authorization
from service.model.events import AuthorizationEnded, Emit
from service.model.handle import digest
from service.store.stores import Stores
from service.store.verbs import Command

LOOKED_AT = 250
"""Authorizations at either end of a user's index among which some are chosen to end."""


def begin(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Command]:
    """Return the commands that write an authorization of a user for `ttl` seconds.

    One of a client for itself has no record: it has only its one access token.
    """
    if authorization.subject is None:
        return []
    record = stores.authorizations.put(authorization, authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl=ttl, now=now), record]


def prolong(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Command]:
    """Return the commands that keep it for `ttl` seconds from now, unless it was revoked meanwhile."""
    record = stores.authorizations.extend(authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl=ttl, now=now), record]


async def make_room(stores: Stores, newcomer: Authorization, *, count: int, emit: Emit) -> None:
    """End authorizations of the user, those that expire first, if there are too many.

    Those of the newcomer's own client are ended before all others, so that no client can end
    those of other clients by asking for many.
    """
    subject, index = digest(str(newcomer.subject)), stores.subject_authorizations
    surplus = await stores.find_surplus(index, subject, count=count)
    if not surplus:
        return
    candidates = await _find_candidates(stores, subject, without=newcomer.id)
    ending = sorted(candidates, key=lambda one: _rank(one[1], newcomer))[: len(surplus)]
    gone = [index.remove(subject, authorization_id) for authorization_id, one in ending if not one]
    await end(stores, [one for _, one in ending if one], *gone, emit=emit)


async def end(
    stores: Stores,
    authorizations: Sequence[Authorization],
    *others: Command,
    emit: Emit,
    durable: bool = False,
) -> None:
    """Make every token inactive that came from them (RFC 7009 §2.1), in one round trip with other commands."""
    writes = [write for one in authorizations for write in _drop(stores, one)]
    await stores.kv.write(*writes, *others, durable=durable)
    for one in authorizations:
        emit(
            AuthorizationEnded(
                authorization_id=one.id, client_id=one.client_id, subject=one.subject
            )
        )


def _drop(stores: Stores, authorization: Authorization) -> Iterator[Command]:
    one = authorization.id
    yield stores.authorizations.drop(one)
    if authorization.subject is not None:
        yield stores.subject_authorizations.remove(digest(authorization.subject), one)
    if authorization.session_id is not None:
        yield stores.session_authorizations.remove(authorization.session_id, one)


async def _find_candidates(
    stores: Stores, subject: str, *, without: str
) -> list[tuple[str, Authorization | None]]:
    """Return the authorizations of a user that expire first, and those that expire last.

    A client with nearly all of ten thousand has some among these, however long they live.
    """
    index = stores.subject_authorizations
    first, last = await stores.kv.write(
        index.first(subject, count=LOOKED_AT), index.last(subject, count=LOOKED_AT)
    )
    ids = [one.decode() for one in dict.fromkeys((*first, *last))]
    ids = [one for one in ids if one != without]
    found = await stores.kv.read(*[stores.authorizations.read(one) for one in ids])
    return list(zip(ids, found, strict=True))


def _rank(authorization: Authorization | None, newcomer: Authorization) -> int:
    """Return the order of ending: those already gone, the client's own, those of others."""
    if authorization is None:
        return 0
    return 1 if authorization.client_id == newcomer.client_id else 2


def _index(stores: Stores, authorization: Authorization, *, ttl: int, now: int) -> list[Command]:
    subject, expires_at = digest(str(authorization.subject)), now + ttl
    users, sessions = stores.subject_authorizations, stores.session_authorizations
    entries = [users.add(subject, authorization.id, expires_at=expires_at, now=now)]
    sid = authorization.session_id
    if sid is not None and not authorization.is_offline:
        entries.append(sessions.add(sid, authorization.id, expires_at=expires_at, now=now))
    return entries
