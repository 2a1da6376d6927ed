"""Begins and ends authorizations with the indexes of them, and revokes access tokens with those derived from them (RFC 7009 §2)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

import msgspec

from service.clock import clock
from service.events.authorizations import AuthorizationEnded
from service.events.event import Emit, Event
from service.events.tokens import CodeReplayed, RefreshTokenReused
from service.model.authorization import Authorization, Source, Spent, new_attempt
from service.model.handle import DIGEST_LENGTH, Handle, name_digest
from service.model.session import Session
from service.protocol.errors import InvalidGrant
from service.store.records import was_won
from service.store.stores import REPLAY_WINDOW, Stores
from service.store.verbs import Command, steps

LOOKED_AT = 250
"""Authorizations at either end of a user's index among which some are chosen to end."""

SKEW = 60
"""Seconds for which a revocation outlives its JWT, because another replica's clock may be behind."""

Replay = type[CodeReplayed] | type[RefreshTokenReused]


def begin(stores: Stores, authorization: Authorization, *, ttl: int) -> list[Command]:
    """Return the commands that write an authorization of a user for `ttl` seconds.

    One of a client for itself has no record: it has only its one access token.
    """
    if authorization.subject is None:
        return []
    record = stores.authorizations.put(authorization, authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl), record]


def keep_known(stores: Stores, authorization: Authorization, *, ttl: int) -> list[Command]:
    """Return the commands that write an authorization for `ttl` seconds, unless another request has written it."""
    record = stores.authorizations.put_new(authorization, authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl), record]


def prolong(stores: Stores, authorization: Authorization, *, ttl: int) -> list[Command]:
    """Return the commands that keep it for `ttl` seconds from now at least, unless it was revoked meanwhile.

    An earlier token may need it for longer, if the lifetimes in the registry were longer then.
    """
    record = stores.authorizations.lengthen(authorization.id, ttl=ttl)
    return [*_index(stores, authorization, ttl), record]


async def make_room(stores: Stores, newcomer: Authorization, *, count: int, emit: Emit) -> None:
    """End authorizations of the user, those that expire first, if there are too many.

    Those of the newcomer's own client are ended before all others, so that no client can end
    those of other clients by asking for many.
    """
    subject, index = name_digest(str(newcomer.subject)), stores.subject_authorizations
    surplus = await stores.find_surplus(index, subject, count=count)
    if not surplus:
        return
    candidates = await _find_candidates(stores, newcomer, needed=len(surplus))
    ending = sorted(candidates, key=lambda one: _rank(one[1], newcomer))[: len(surplus)]
    gone = [authorization_id for authorization_id, one in ending if not one]
    others = [index.remove(subject, *gone)] if gone else []
    await end(stores, [one for _, one in ending if one], *others, emit=emit)


def note_end(stores: Stores, subject: str, client_id: str = "", *, ttl: int) -> Command:
    """Refuse for `ttl` seconds what a client got by now and no authorization stands for, such as ID tokens; without a client all, sign-ins on their way too."""
    return stores.access_ends.put(clock(), *_place_of_end(subject, client_id), ttl=ttl)


def ask_end(stores: Stores, subject: str, client_id: str = "") -> Command:
    """Ask when `note_end` was last executed, for `is_ended`.

    An end is noted before the indexes of the user are read, and a write to these asks for it afterwards.
    All of it lies in one slot: so one of both finds the other, at whichever replicas they are.
    """
    return ("GET", stores.access_ends.key(*_place_of_end(subject, client_id)))


def is_ended(stores: Stores, answer: bytes | None, *, since: float) -> bool:
    """Return whether the answer to `ask_end` says that all access from this time or before has ended."""
    return answer is not None and since <= stores.access_ends.decode(answer)


def _place_of_end(subject: str, client_id: str) -> tuple[str, str]:
    return name_digest(subject), name_digest(client_id) if client_id else ""


def list_code(
    stores: Stores, authorization: Authorization, code: Handle, *, expires_at: int
) -> Command:
    """Return the command that notes a code of a user until it expires; answers how many its client has."""
    place = _place_of_code(authorization, code)
    return stores.subject_codes.add(*place, expires_at=expires_at)


def unlist_code(stores: Stores, authorization: Authorization, code: Handle) -> Command:
    owner, member, client = _place_of_code(authorization, code)
    return stores.subject_codes.remove(owner, member, digest=client)


def _place_of_code(authorization: Authorization, code: Handle) -> tuple[str, str, str]:
    owner, client = name_digest(str(authorization.subject)), name_digest(authorization.client_id)
    return owner, f"{code.selector}:{code.digest}", client


async def make_room_for_code(
    stores: Stores, newcomer: Authorization, *, count: int, emit: Emit
) -> None:
    """Use up the codes that expire first if the client has too many for the user, and end what was granted by them.

    What came from a code that is redeemed in the same moment stays.
    """
    owner, client = name_digest(str(newcomer.subject)), name_digest(newcomer.client_id)
    index = stores.subject_codes
    surplus = await stores.find_surplus(index, owner, client, count=count)
    surplus = tuple([one for one in surplus if not one.startswith(newcomer.id)])
    if not surplus:
        return
    marker, places = Spent(attempt=new_attempt(), at=clock()), [one.split(":") for one in surplus]
    befores = await stores.kv.write(
        *[stores.codes.swap(marker, *place, ttl=REPLAY_WINDOW) for place in places],
        index.remove(owner, *surplus, digest=client),
        durable=True,
    )
    ended = [
        selector
        for (selector, _), before in zip(places, befores, strict=False)
        if was_won(before, attempt=marker.attempt)
    ]
    found = await stores.kv.read(*map(stores.authorizations.read, ended))
    await end(stores, [one for one in found if one is not None], emit=emit)


async def end(
    stores: Stores,
    authorizations: Sequence[Authorization],
    *others: Command,
    emit: Emit,
    durable: bool = False,
) -> None:
    """Make every token inactive that came from them (RFC 7009 §2.1), after other commands."""
    for some in steps(authorizations):
        writes = drop(stores, *some)
        events = [
            AuthorizationEnded(
                authorization_id=one.id, client_id=one.client_id, subject=one.subject
            )
            for one in some
        ]
        await stores.kv.write(*others, *writes, durable=durable, events=events)
        others = ()
        for event in events:
            emit(event)
    await stores.kv.write(*others, durable=durable)


def drop(stores: Stores, *some: Authorization) -> Iterator[Command]:
    """Return the commands that end authorizations, and take them from each index that has some of them."""
    for one in some:
        yield stores.authorizations.drop(one.id)
    by_subject, by_session = defaultdict[str, list[str]](list), defaultdict[str, list[str]](list)
    for one in some:
        if one.subject is not None:
            by_subject[one.subject].append(one.id)
        if one.session_id is not None:
            by_session[one.session_id].append(one.id)
    for subject, ids in by_subject.items():
        yield stores.subject_authorizations.remove(name_digest(subject), *ids)
    for session_id, ids in by_session.items():
        yield stores.session_authorizations.remove(session_id, *ids)


async def _find_candidates(
    stores: Stores, newcomer: Authorization, *, needed: int
) -> list[tuple[str, Authorization | None]]:
    """Return authorizations of the newcomer's user that expire first, and some that expire last.

    A client with nearly all of ten thousand has some among these, however long they live. No more are read than are needed
    until so many are the newcomer's client's.
    """
    index, subject = stores.subject_authorizations, name_digest(str(newcomer.subject))
    first, last = await stores.kv.write(
        index.first(subject, count=LOOKED_AT), index.last(subject, count=LOOKED_AT)
    )
    ids = [one.decode() for one in dict.fromkeys((*first, *last))]
    ids = [one for one in ids if one != newcomer.id]
    found: list[tuple[str, Authorization | None]] = []
    for some in steps(ids):
        records = await stores.kv.read(*map(stores.authorizations.read, some))
        found += zip(some, records, strict=True)
        if sum(_rank(one, newcomer) < _OF_OTHERS for _, one in found) >= needed:
            break
    return found


_OF_OTHERS = 2


def _rank(authorization: Authorization | None, newcomer: Authorization) -> int:
    """Return the order of ending: those already gone, the client's own, those of others."""
    if authorization is None:
        return 0
    return 1 if authorization.client_id == newcomer.client_id else _OF_OTHERS


def _index(stores: Stores, authorization: Authorization, ttl: int) -> list[Command]:
    subject, expires_at = name_digest(str(authorization.subject)), clock() + ttl
    users, sessions = stores.subject_authorizations, stores.session_authorizations
    entries = [users.add(subject, authorization.id, expires_at=expires_at)]
    if not authorization.is_offline:
        sid = str(authorization.session_id)
        entries.append(sessions.add(sid, authorization.id, expires_at=expires_at))
    return entries


class SingleUse(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """The use of a code or refresh token, in the atomic step that makes the new tokens active."""

    swap: Command
    """Puts a marker in the place of the record."""
    others: tuple[Command, ...] = ()
    """The commands that go before it."""
    attempt: str
    is_repeatable: bool = False
    """Whether every request wins that finds the record or a marker."""
    replay: Replay | None
    """The event if the request was not the first, which then ends the authorization; None: it is only refused."""

    def was_won(self, before: bytes | None) -> bool:
        """Return whether the answer to the swap means that this request may have the tokens."""
        is_repeat = self.is_repeatable and before is not None
        return is_repeat or was_won(before, attempt=self.attempt)


class Revocation(msgspec.Struct, frozen=True, kw_only=True):
    stores: Stores
    emit: Emit

    async def end_authorization(self, authorization_id: str, *events: Event) -> None:
        """Revoke an authorization with all its tokens, delegated ones included; these events follow from it."""
        drop = self.stores.authorizations.drop(authorization_id)
        await self.stores.kv.write(drop, durable=True, events=events)

    async def refuse_replay(
        self, authorization: Authorization, replay: Replay | None
    ) -> InvalidGrant:
        """Return the refusal of a use that was not the first, and revoke all tokens where that is an attack."""
        if replay is None:
            return InvalidGrant("the code has been used")
        return await self.end_replayed(authorization, replay)

    async def end_replayed(self, authorization: Authorization, replay: Replay) -> InvalidGrant:
        """Revoke all tokens, because either of two requests may be an attacker's; return the refusal (RFC 6749 §4.1.2)."""
        event = replay(client_id=authorization.client_id, subject=authorization.subject)
        await self.end_authorization(authorization.id, event)
        self.emit(event)
        what = "code" if replay is CodeReplayed else "refresh token"
        return InvalidGrant(f"the {what} has been used")

    async def revoke(self, selector: str, *names: str, expires_at: int) -> None:
        """Revoke the tokens of these names, and all that were derived from them.

        A token is revoked after those derived from it, so that an interrupted revocation can be
        repeated. Where any has some, the indexes are read again, for tokens that were derived in the meantime.
        """
        derived, ended = self.stores.delegated, set[str]()
        left = await self._find_descendants(selector, names)
        while left:
            have_some = 0
            for some in steps(left):
                ends = [self._end(selector, one, expires_at) for one in some]
                answers = await self.stores.kv.write(
                    *ends, derived.exist(selector, some), durable=True
                )
                have_some += answers[-1]
            ended.update(left)
            left = await self._find_descendants(selector, names) if have_some else []
            left = [one for one in left if one not in ended]

    async def _find_descendants(self, selector: str, names: Iterable[str]) -> list[str]:
        """Return these names and those of all tokens derived from them, the youngest first."""
        kv, derived = self.stores.kv, self.stores.delegated
        found, level = [*names], [*names]
        while level:
            below: list[str] = []
            for some in steps(level):
                # Of many nearly none has any below it, and one command tells.
                if some[1:] and await kv.write(derived.exist(selector, some)) == [0]:
                    continue
                asked = [derived.members(selector, name) for name in some]
                answers: list[list[bytes]] = await kv.write(*asked)
                below += [name.decode() for members in answers for name in members]
            level = below
            found += level
        return found[::-1]

    def _end(self, selector: str, name: str, expires_at: int) -> Command:
        if is_reference(name):
            return self.stores.access_tokens.drop(selector, name)
        return self.stores.revoked.put(True, selector, name, ttl=expires_at - clock() + SKEW)


async def find_source(stores: Stores, source: Source | None) -> Authorization | None:
    """Return the authorization of the token that another one was exchanged for; None if it has no record here.

    InvalidGrant if that token has ended; another issuer's is active while it lasts, an ID token while its session does.
    """
    if source is None:
        return None
    ended = InvalidGrant("the token that it was exchanged for has ended")
    if source.expires_at <= clock():
        raise ended
    selector, name = source.selector, source.name
    if selector is None:
        return None
    if source.is_session:
        if await stores.kv.read(stores.sessions.read(selector)) == (None,):
            raise ended
        return None
    if name is None:
        (authorization,) = await stores.kv.read(stores.authorizations.read(selector))
        is_there = True
    else:
        authorization, token, revoked = await stores.kv.read(
            stores.authorizations.read(selector),
            stores.access_tokens.read(selector, name),
            stores.revoked.read(selector, name),
        )
        is_there = token is not None if is_reference(name) else revoked is None
    if authorization is None or not is_there:
        raise ended
    return authorization


async def find_session(stores: Stores, authorization: Authorization) -> Session | None:
    """Return the session that its refresh tokens end with, None if they outlive it; InvalidGrant if the session has ended."""
    if authorization.is_offline:
        return None
    (session,) = await stores.kv.read(stores.sessions.read(str(authorization.session_id)))
    if session is None or session.ends_at <= clock():
        raise InvalidGrant("the user's session has ended")
    return session


def is_reference(name: str) -> bool:
    """Return whether an index's name of a token is a handle's digest, and not the `jti` of a JWT."""
    return len(name) == DIGEST_LENGTH
