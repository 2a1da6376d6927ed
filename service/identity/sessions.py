"""Begins, finds and ends the sessions of browsers (OpenID Connect Session Management §1)."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Collection, Iterable, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.events.event import Emit
from service.events.users import SessionEnded, SessionStarted
from service.identity import provider_accounts, provider_sessions
from service.identity.sign_in import SignIn, note_fresh_login
from service.model.authorization import Authorization, Confirmation, new_family_key
from service.model.client import Client
from service.model.handle import digest, is_selector, new_handle, new_selector, parse_handle
from service.model.request_context import current_traceparent
from service.model.session import LogoutDelivery, Session
from service.protocol.authorization_details import Detail
from service.protocol.claims import ClaimsRequest
from service.protocol.errors import InvalidRequest
from service.store.keyvalue import to_members
from service.store.stores import DELIVERY_LIFETIME, LOGOUT, Stores
from service.store.verbs import Command, Read, steps
from service.tokens.liveness import ask_end, is_ended

LONGEST_USER_AGENT = 200


class Sessions(msgspec.Struct, frozen=True, kw_only=True):
    """The cookie of a session is a handle of which only a hash is kept."""

    stores: Stores
    lifetime: int
    """Seconds that a session lasts unused."""
    max_lifetime: int
    ended: asyncio.Event
    """Set when logouts were queued here, so that they are delivered."""
    emit: Emit

    async def start(
        self,
        sign_in: SignIn,
        *,
        previous: Session | None,
        user_agent: str,
        address: str = "",
        browser: str = "",
        fresh_login: str = "",
    ) -> tuple[Session, str]:
        """Return the session after a sign-in and its new cookie; the previous cookie counts no longer, and `fresh_login` is the value of this sign-in.

        InvalidRequest if the identity provider that the sign-in came from has ended it meanwhile, or somebody all access of the user.
        """
        if previous is not None and previous.subject != sign_in.subject:
            await self.end(previous)
            previous = None
        sid = previous.id if previous else new_selector()
        cookie = new_handle("session", sid)
        session = self._build(sid, cookie.digest, sign_in, user_agent, address)
        session = replace(session, browser_digest=digest(browser) if browser else "")
        fresh = [note_fresh_login(self.stores, fresh_login, session)] if fresh_login else []
        is_kept, end = await self._keep(session, *fresh, renewed=previous is not None)
        if not is_kept:
            return await self.start(
                sign_in,
                previous=None,
                user_agent=user_agent,
                address=address,
                browser=browser,
                fresh_login=fresh_login,
            )
        if is_ended(self.stores, end, since=sign_in.since):
            await self.end(session)
            raise InvalidRequest("the user was signed out everywhere: sign in again")
        if await provider_sessions.has_ended(self.stores, session):
            await self.end(session)
            raise InvalidRequest("the identity provider has ended this sign-in")
        self.emit(
            SessionStarted(
                session_id=session.id, subject=session.subject, idp=session.idp, amr=session.methods
            )
        )
        return session, cookie.text

    async def find(self, cookie: str) -> Session | None:
        """Return the session with this cookie; its user may have been disabled."""
        session, _ = await self.find_and_read(cookie)
        return session

    async def find_and_read(
        self, cookie: str, *others: Read[Any]
    ) -> tuple[Session | None, tuple[Any, ...]]:
        """Return the session with this cookie, likewise, and what else is read in the same round trip."""
        handle = parse_handle(cookie, "session")
        if handle is None:
            return None, await self.stores.kv.read(*others)
        session, found = await self._read(handle.selector, *others)
        if session is None or not hmac.compare_digest(session.cookie_digest, handle.digest):
            return None, found
        return session, found

    async def find_by_id(self, sid: str) -> Session | None:
        """Return the session with this `sid`, for callers that need no cookie as a proof."""
        if not is_selector(sid):
            return None
        session, _ = await self._read(sid)
        return session

    async def _read(self, sid: str, *others: Read[Any]) -> tuple[Session | None, tuple[Any, ...]]:
        reads: list[Read[Any]] = [self.stores.sessions.read(sid), *others]
        session, *found = await self.stores.kv.read(*reads)
        is_live = session is not None and clock() < session.ends_at
        return session if is_live else None, (*found,)

    async def touch(self, session: Session) -> None:
        """Begin the idle time anew."""
        await self.stores.kv.write(*self.note_use(session))

    def note_use(self, session: Session) -> list[Command]:
        """Return the commands that begin the idle time anew; the last one answers whether the session is there.

        A remembered session has no idle time, and keeps its time if it was remembered meanwhile.
        """
        ttl = self._lifetime(session)
        use = self.stores.session_uses.put(clock(), session.id, ttl=ttl)
        return [use, self.stores.sessions.lengthen(session.id, ttl=ttl)]

    def ask_presence(self, session: Session) -> list[Command]:
        """Return the command that answers whether the session is there."""
        return [self.stores.sessions.exists(session.id)]

    async def find_last_uses(self, sessions: Sequence[Session]) -> tuple[int, ...]:
        found: list[int | None] = []
        for some in steps(sessions):
            reads = [self.stores.session_uses.read(session.id) for session in some]
            found += await self.stores.kv.read(*reads)
        return tuple(
            max(use or 0, session.started_at) for session, use in zip(sessions, found, strict=True)
        )

    async def end(self, *sessions: Session) -> tuple[str, ...]:
        """End sessions with their tokens, all but the offline ones; return their clients' ids.

        Many sessions take as many round trips as one. The logouts of their clients are queued before
        the end (OIDC Back-Channel Logout §2.5). The sessions go last, so that an end that was cut short
        can be repeated; what was granted meanwhile is in the indexes by then.
        """
        clients: list[str] = []
        for some in steps(sessions):
            clients += await self._end_some(some)
        return tuple(clients)

    async def _end_some(self, sessions: Sequence[Session]) -> list[str]:
        stores, kv = self.stores, self.stores.kv
        listing = [
            *[stores.session_clients.members(one.id) for one in sessions],
            *[stores.session_authorizations.members(one.id) for one in sessions],
        ]
        before = await kv.read_members(*listing)
        writes, queued = await self._end_dependents(sessions, before)
        for one in sessions:
            writes += (
                stores.session_uses.drop(one.id),
                stores.subject_sessions.remove(digest(one.subject), one.id),
                *provider_sessions.unlist(stores, one),
                stores.sessions.drop(one.id),
            )
        events = [SessionEnded(session_id=one.id, subject=one.subject) for one in sessions]
        # What is listed again after the end is in the same slot of a Cluster as the session.
        answers = await kv.write(*writes, *listing, durable=True, events=events)
        listed = [to_members(one) for one in answers[len(writes) :]]
        writes, later = await self._end_dependents(sessions, listed, queued=queued)
        if any(listed):
            writes += [stores.session_authorizations.drop(one.id) for one in sessions]
            writes += [stores.session_clients.drop(one.id) for one in sessions]
        await kv.write(*writes)
        if queued or later:
            self.ended.set()
        for event in events:
            self.emit(event)
        return [client_id for _, client_id in (*queued, *later)]

    async def _end_dependents(
        self,
        sessions: Sequence[Session],
        listed: Sequence[tuple[str, ...]],
        *,
        queued: Collection[tuple[Session, str]] = (),
    ) -> tuple[list[Command], list[tuple[Session, str]]]:
        """Queue the logouts of listed clients that are not `queued` yet; return the last writes that end what is listed below the sessions, and those logouts.

        A full Redis refuses to queue, but would execute the other writes: so those come in the next round trip.
        Offline authorizations outlive their session (OIDC Core §11).
        """
        stores, kv = self.stores, self.stores.kv
        writes = list[Command]()
        known = {(one.id, client_id) for one, client_id in queued}
        logouts = [
            (one, client_id)
            for one, clients in zip(sessions, listed, strict=False)
            for client_id in clients
            if (one.id, client_id) not in known
        ]
        for some in steps(logouts):
            ends = [(one.subject, one.id, client_id) for one, client_id in some]
            await kv.write(*queue_logouts(stores, ends), durable=True)
        granted = [each for members in listed[len(sessions) :] for each in members]
        async for found in stores.walk(granted, stores.authorizations.read):
            await kv.write(*writes, durable=True)
            writes = [
                write
                for one in found
                if not one.is_offline
                for write in (
                    stores.authorizations.drop(one.id),
                    stores.subject_authorizations.remove(digest(str(one.subject)), one.id),
                )
            ]
        return writes, logouts

    async def find_all_of(self, subject: str) -> tuple[Session, ...]:
        listed = self.stores.subject_sessions.members(digest(subject))
        found = await self.stores.read_listed(listed, self.stores.sessions.read)
        return tuple(sorted(found, key=lambda session: session.auth_time, reverse=True))

    async def walk_all(self) -> AsyncIterator[list[Session]]:
        """Walk through the whole store in steps, which only operators may do."""
        async for some in self.stores.walk_all(self.stores.sessions):
            yield [one for one in some if clock() < one.ends_at]

    def _build(
        self, sid: str, cookie_digest: str, sign_in: SignIn, user_agent: str, address: str
    ) -> Session:
        now = clock()
        return Session(
            id=sid,
            cookie_digest=cookie_digest,
            subject=sign_in.subject,
            idp=sign_in.idp,
            amr=sign_in.amr,
            acr=sign_in.acr,
            auth_time=sign_in.auth_time,
            started_at=now,
            ends_at=now + self.max_lifetime,
            remember=sign_in.remember,
            user_agent="".join(
                character if character.isprintable() else "?"
                for character in user_agent[:LONGEST_USER_AGENT]
            ),
            address=address,
            user_claims=sign_in.user_claims,
            second_factor_amr=sign_in.second_factor_amr,
            provider_session=sign_in.provider_session,
        )

    async def _keep(
        self, session: Session, *others: Command, renewed: bool
    ) -> tuple[bool, bytes | None]:
        """Write the session with others, and return whether that was done: one to be renewed may have ended, and stays ended; with the answer to `ask_end`."""
        write = self.stores.sessions.swap if renewed else self.stores.sessions.put
        record = write(session, session.id, ttl=self._lifetime(session))
        ends_at, owner = session.ends_at, digest(session.subject)
        listed = self.stores.subject_sessions.add(owner, session.id, expires_at=ends_at)
        # Its clients stay noted until its absolute end, however long ago they were noted.
        clients = self.stores.session_clients.keep(session.id, expires_at=ends_at)
        at_provider = [
            *provider_sessions.enlist(self.stores, session),
            *provider_accounts.note(self.stores, session),
        ]
        end = ask_end(self.stores, session.subject)
        writes = (listed, clients, *at_provider, *others, record, end)
        count, *_, written, ended = await self.stores.kv.write(*writes)
        await self._make_room(session, count)
        return bool(written), ended

    async def _make_room(self, newcomer: Session, count: int) -> None:
        owner, index = digest(newcomer.subject), self.stores.subject_sessions
        for sid in await self.stores.find_surplus(index, owner, count=count):
            session = await self.find_by_id(sid)
            if session is None:
                await self.stores.kv.write(index.remove(owner, sid))
            elif sid != newcomer.id:
                await self.end(session)

    def _lifetime(self, session: Session) -> int:
        left = session.ends_at - clock()
        return left if session.remember else min(self.lifetime, left)


def note_client(stores: Stores, client: Client, session: Session) -> list[Command]:
    """Note a client that registered for logouts, for as long as the session can last."""
    if client.frontchannel_logout_uri is None and client.backchannel_logout_uri is None:
        return []
    clients, ends_at = stores.session_clients, session.ends_at
    return [clients.add(session.id, client.client_id, expires_at=ends_at)]


def queue_logouts(stores: Stores, logouts: Iterable[tuple[str, str, str]]) -> list[Command]:
    """Queue logouts of a subject from a session at a client; whether one can be delivered is decided later.

    Without a session, it is from whatever the client has of the user.
    """
    writes: list[Command] = []
    for subject, session_id, client_id in logouts:
        delivery = LogoutDelivery(
            client_id=client_id,
            session_id=session_id,
            subject=subject,
            traceparent=current_traceparent.get(),
        )
        deliveries, queue = stores.logout_outbox.deliveries, stores.logout_outbox.queue
        writes.append(deliveries.put_new(delivery, LOGOUT, delivery.id, ttl=DELIVERY_LIFETIME))
        writes.append(queue.add(delivery.id))
    return writes


def new_authorization(
    session: Session,
    *,
    client: Client,
    scope: frozenset[str],
    resources: tuple[str, ...],
    authorization_details: tuple[Detail, ...],
    acr: str | None,
    grant_type: str,
    claims_request: ClaimsRequest | None = None,
    cnf: Confirmation | None = None,
) -> Authorization:
    """Return what the user of a session has granted a client, with how and when the user authenticated."""
    return Authorization(
        id=new_selector(),
        client_id=client.client_id,
        scope=scope,
        resources=resources,
        authorization_details=authorization_details,
        subject=session.subject,
        amr=session.methods,
        acr=acr,
        idp=session.idp,
        auth_time=session.auth_time,
        session_id=session.id,
        user_claims=session.user_claims,
        claims_request=claims_request,
        grant_type=grant_type,
        family_key=new_family_key(
            scope, without_offline_access=client.refreshes_without_offline_access(grant_type)
        ),
        cnf=cnf,
        created_at=clock(),
    )
