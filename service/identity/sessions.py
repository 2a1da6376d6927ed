"""Who is signed in at this browser, and until when (OpenID Connect Session Management §1)."""

from __future__ import annotations

import asyncio
import hmac
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from service.identity import participants
from service.model.authorization import Authorization
from service.model.events import Emit, SessionEnded, SessionStarted
from service.model.handle import (
    Handle,
    digest,
    is_selector,
    new_handle,
    new_selector,
    parse_handle,
)
from service.model.session import Session
from service.store.stores import Stores
from service.store.verbs import Command

LONGEST_USER_AGENT = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionLimits:
    """Seconds that a session lasts unused, and that it lasts at all."""

    lifetime: int
    max_lifetime: int


@dataclass(frozen=True, slots=True)
class SecondFactor:
    """A further proof of the same user, after the password or the identity provider."""

    amr: tuple[str, ...]
    at: int
    """Seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """A user's authentication; it becomes a session when no step is missing from it."""

    subject: str
    idp: str
    amr: tuple[str, ...]
    """The methods of the first factor, here or at the identity provider."""
    auth_time: int
    acr: str | None = None
    """The authentication context that an identity provider named."""
    user_claims: Mapping[str, object] = field(default_factory=dict[str, object])
    """The claims from an identity provider; empty for a local user."""
    remember: bool = False
    second_factors: tuple[SecondFactor, ...] = ()

    @classmethod
    def of_session(cls, session: Session) -> SignIn:
        """Return the authentication that began the session, so that a factor can be added to it."""
        done = session.second_factor_amr
        return cls(
            subject=session.subject,
            idp=session.idp,
            amr=session.amr,
            auth_time=session.auth_time,
            acr=session.acr,
            user_claims=session.user_claims,
            remember=session.remember,
            second_factors=(SecondFactor(done, session.auth_time),) if done else (),
        )

    @property
    def methods(self) -> tuple[str, ...]:
        """The methods of all factors."""
        return (*self.amr, *(method for each in self.second_factors for method in each.amr))

    def with_second_factor(self, amr: tuple[str, ...], *, at: int) -> SignIn:
        """Return the sign-in after a further factor."""
        return replace(self, second_factors=(*self.second_factors, SecondFactor(amr, at)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Begins, finds and ends sessions; the cookie is a handle of which only a hash is kept."""

    stores: Stores
    limits: SessionLimits
    ended: asyncio.Event
    """Set when a session has ended here, for whoever tells the clients that took part in it."""
    now: Callable[[], int]
    emit: Emit

    async def start(
        self,
        sign_in: SignIn,
        *,
        previous: Session | None,
        user_agent: str,
        address: str = "",
    ) -> tuple[Session, str]:
        """The session after a sign-in and its new cookie: an old one is worth nothing from now on."""
        if previous is not None and previous.subject != sign_in.subject:
            await self.end(previous)
            previous = None
        sid = previous.id if previous else new_selector()
        session, cookie = self._begin(sid, sign_in, user_agent=user_agent, address=address)
        if not await self._keep(session, renewed=previous is not None):
            return await self.start(sign_in, previous=None, user_agent=user_agent, address=address)
        self.emit(
            SessionStarted(
                session_id=session.id, subject=session.subject, idp=session.idp, amr=session.methods
            )
        )
        return session, cookie.text

    async def find(self, cookie: str) -> Session | None:
        """The session whose cookie this is; whether its user is still active is another question."""
        handle = parse_handle(cookie, "session")
        if handle is None:
            return None
        session = await self.by_id(handle.selector)
        if session is None or not hmac.compare_digest(session.cookie_digest, handle.digest):
            return None
        return session

    async def by_id(self, sid: str) -> Session | None:
        """The session with this `sid`, for those who need no cookie to prove that it is theirs."""
        if not is_selector(sid):
            return None
        (session,) = await self.stores.kv.read(self.stores.sessions.read(sid))
        return session if session is not None and self.now() < session.ends_at else None

    async def touch(self, session: Session) -> None:
        """It was used: its idle time begins anew; one that is remembered has none."""
        ttl = self._lifetime(session)
        writes: list[Command] = [self.stores.session_uses.put(self.now(), session.id, ttl=ttl)]
        if not session.remember:
            writes.append(self.stores.sessions.extend(session.id, ttl=ttl))
        await self.stores.kv.write(*writes)

    async def last_uses(self, sessions: Sequence[Session]) -> tuple[int, ...]:
        """When each of them was last used; seconds since the epoch."""
        found = await self.stores.kv.read(
            *[self.stores.session_uses.read(session.id) for session in sessions]
        )
        return tuple(
            max(use or 0, session.started_at) for session, use in zip(sessions, found, strict=True)
        )

    async def end(self, session: Session) -> tuple[str, ...]:
        """End it with its tokens, all but the offline ones; the ids of the clients that took part in it.

        That they are to be told is written together with the end (OIDC Back-Channel Logout §2.5).
        The session goes last, so that an end that was cut short can be repeated; what was granted
        meanwhile is in the indexes by then.
        """
        stores, owner = self.stores, digest(session.subject)
        before, told = await self._authorizations_of(session), await self._clients_of(session)
        await stores.kv.write(
            *participants.tell(stores, session, told, now=self.now()),
            *self._without(before, owner),
            stores.session_uses.drop(session.id),
            stores.subject_sessions.remove(owner, session.id),
            stores.sessions.drop(session.id),
            durable=True,
        )
        meanwhile, clients = await self._authorizations_of(session), await self._clients_of(session)
        await stores.kv.write(
            *participants.tell(stores, session, set(clients).difference(told), now=self.now()),
            *self._without(meanwhile, owner),
            stores.session_authorizations.drop(session.id),
            stores.session_clients.drop(session.id),
        )
        self.ended.set()
        self.emit(SessionEnded(session_id=session.id, subject=session.subject))
        return tuple(dict.fromkeys((*told, *clients)))

    async def of_subject(self, subject: str) -> tuple[Session, ...]:
        """Everywhere this person is signed in, the latest first."""
        index = self.stores.subject_sessions.key(digest(subject))
        sids = await self.stores.kv.members(index, now=self.now())
        found = await self.stores.kv.read(*[self.stores.sessions.read(sid) for sid in sids])
        live = [one for one in found if one is not None]
        return tuple(sorted(live, key=lambda session: session.auth_time, reverse=True))

    async def every(self) -> AsyncIterator[Session]:
        """All sessions of everybody; walks the whole store, so only for operators."""
        async for key in self.stores.kv.keys(self.stores.sessions.key("*")):
            session = await self.by_id(key.split("{")[-1].split("}")[0])
            if session is not None:
                yield session

    async def _authorizations_of(self, session: Session) -> list[Authorization]:
        index = self.stores.session_authorizations.key(session.id)
        ids = await self.stores.kv.members(index, now=self.now())
        found = await self.stores.kv.read(*[self.stores.authorizations.read(one) for one in ids])
        return [one for one in found if one is not None]

    async def _clients_of(self, session: Session) -> tuple[str, ...]:
        index = self.stores.session_clients.key(session.id)
        return await self.stores.kv.members(index, now=self.now())

    def _without(self, authorizations: list[Authorization], owner: str) -> list[Command]:
        """What ends those that do not outlive their session (OIDC Core §11)."""
        ended = [one.id for one in authorizations if not one.is_offline]
        return [
            *[self.stores.authorizations.drop(one) for one in ended],
            *[self.stores.subject_authorizations.remove(owner, one) for one in ended],
        ]

    def _begin(
        self, sid: str, sign_in: SignIn, *, user_agent: str, address: str
    ) -> tuple[Session, Handle]:
        cookie, now = new_handle("session", sid), self.now()
        session = Session(
            id=sid,
            cookie_digest=cookie.digest,
            subject=sign_in.subject,
            idp=sign_in.idp,
            amr=sign_in.amr,
            acr=sign_in.acr,
            auth_time=max([sign_in.auth_time, *(each.at for each in sign_in.second_factors)]),
            started_at=now,
            ends_at=now + self.limits.max_lifetime,
            remember=sign_in.remember,
            user_agent=_readable(user_agent),
            address=address,
            user_claims=sign_in.user_claims,
            second_factor_amr=sign_in.methods[len(sign_in.amr) :],
        )
        return session, cookie

    async def _keep(self, session: Session, *, renewed: bool) -> bool:
        """Write it; False where the one to be renewed has ended meanwhile and stays ended."""
        write = self.stores.sessions.swap if renewed else self.stores.sessions.put
        record = write(session, session.id, ttl=self._lifetime(session))
        listed = self.stores.subject_sessions.add(
            digest(session.subject), session.id, expires_at=session.ends_at, now=self.now()
        )
        kept = participants.keep(self.stores, session, now=self.now())
        count, _, written = await self.stores.kv.write(listed, kept, record)
        await self._make_room(session, count)
        return bool(written)

    async def _make_room(self, newcomer: Session, count: int) -> None:
        """End the sessions of a person who has too many, those that would end first."""
        owner, listed = digest(newcomer.subject), self.stores.subject_sessions
        for sid in await self.stores.find_surplus(listed, owner, count=count):
            session = await self.by_id(sid)
            if session is None:
                await self.stores.kv.write(listed.remove(owner, sid))
            elif sid != newcomer.id:
                await self.end(session)

    def _lifetime(self, session: Session) -> int:
        left = session.ends_at - self.now()
        return left if session.remember else min(self.limits.lifetime, left)


def _readable(user_agent: str) -> str:
    """What a person may be shown of a header that can hold any bytes."""
    cut = user_agent[:LONGEST_USER_AGENT]
    return "".join(character if character.isprintable() else "?" for character in cut)
