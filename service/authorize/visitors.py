"""Says who a visitor is, what is missing from a sign-in, and begins sessions (ASVS 7.5.1)."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec.structs import replace

from service.authorize.interaction import Step, UnfinishedSignIn
from service.authorize.request import AuthorizeRequest
from service.identity.factors.stored import EnrolledFactors
from service.identity.providers.claims import with_trusted_methods
from service.identity.sessions import Sessions
from service.identity.sign_in import (
    FreshLogins,
    PartialSignIn,
    PartialSignIns,
    SignIn,
    new_fresh_login,
)
from service.identity.users import Subjects
from service.model.handle import digest
from service.model.registry import LiveRegistry
from service.model.session import SentCookies, Session
from service.protocol.authorization_request import SIGNED_OUT, browser_state_of
from service.protocol.errors import InvalidRequest
from service.protocol.octets import random_text
from service.store.verbs import Read


class Visitor(msgspec.Struct, frozen=True, kw_only=True):
    """The browser by its own cookie, and the live session if there is one."""

    sent: SentCookies
    browser: str
    session: Session | None = None
    user_claims: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])
    browser_state: str = SIGNED_OUT
    """The state of the session as clients see it from outside (OIDC Session Management §3.2)."""
    new_cookie: str | None = None
    """The value of the session's cookie, if the session has just begun."""
    partial: PartialSignIn | None = None
    """A sign-in that lacks a step; only that step may look at it."""
    is_noted: bool = True
    """Whether the use of the session has been written; else it is with the client's answer."""
    fresh_login: str = ""
    """The proof in address or form of a page that follows a sign-in; as it was sent, not verified."""

    def sign_in_for(self, parked_id: str) -> SignIn | None:
        """Return what the user has proved so far: for this request, else for the session."""
        if self.partial is not None and self.partial.parked_id == parked_id:
            return self.partial.sign_in
        return SignIn.of_session(self.session) if self.session else None


class Visitors(msgspec.Struct, frozen=True, kw_only=True):
    """Finds visitors, and signs them in."""

    registry: LiveRegistry
    steps: tuple[Step, ...]
    sessions: Sessions
    partial_sign_ins: PartialSignIns
    fresh_logins: FreshLogins
    subjects: Subjects
    enrolled: EnrolledFactors

    async def find(
        self,
        sent: SentCookies,
        *others: Read[Any],
        fresh_login: str = "",
        note_use: bool = True,
    ) -> tuple[Visitor, tuple[Any, ...]]:
        """Return the browser's mark, new if it has none, and the session of an active user, which is used by that; and what else is read with it."""
        browser, partial_id = sent.browser or random_text(24), sent.partial_sign_in
        kept = [self.partial_sign_ins.reads(partial_id)] if partial_id else []
        session, found = await self.sessions.find_and_read(sent.session, *kept, *others)
        partial, others_found = None, found[len(kept) :]
        if kept:
            partial = self.partial_sign_ins.open(partial_id, found[0], browser=browser)
        user_claims = await self.subjects.find_claims(session) if session else None
        if session is None or user_claims is None:
            session, user_claims = None, dict[str, object]()
            # A frame of another site sends no session cookie, although a user may be signed in:
            # only a cookie without a session proves that nobody is.
            browser_state = SIGNED_OUT if sent.session else sent.browser_state or SIGNED_OUT
        else:
            browser_state = browser_state_of(session.id)
            if note_use:
                await self.sessions.touch(session)
        visitor = Visitor(
            sent=sent,
            browser=browser,
            session=session,
            user_claims=user_claims,
            browser_state=browser_state,
            partial=partial,
            is_noted=note_use or session is None,
            fresh_login=fresh_login,
        )
        return visitor, others_found

    async def find_missing_step(
        self, sign_in: SignIn, request: AuthorizeRequest | None
    ) -> Step | None:
        """Return the step without which the sign-in begins no session; None where nothing is missing."""
        registry = self.registry.current
        unfinished = UnfinishedSignIn(
            sign_in=with_trusted_methods(sign_in, registry),
            request=request,
            registry=registry,
            factors=await self.enrolled.find(sign_in.subject),
        )
        return next((step for step in self.steps if step.is_missing_from(unfinished)), None)

    async def sign_in(
        self,
        visitor: Visitor,
        sign_in: SignIn,
        request: AuthorizeRequest | None,
        *,
        parked_id: str,
        user_agent: str,
        address: str,
    ) -> tuple[Visitor, Step | None]:
        """Begin a session, or keep a sign-in that lacks a step, which is returned, too.

        Raise InvalidRequest if it is the continuation of one that was continued already.
        """
        if visitor.partial and not await self.partial_sign_ins.end(visitor.partial):
            raise InvalidRequest("this sign-in took too long or was continued already")
        missing = await self.find_missing_step(sign_in, request)
        if missing is not None:
            return await self._keep_partial(visitor, sign_in, parked_id=parked_id), missing
        signed_in = await self._begin_session(
            visitor, sign_in, user_agent=user_agent, address=address
        )
        return signed_in, None

    async def _keep_partial(self, visitor: Visitor, sign_in: SignIn, *, parked_id: str) -> Visitor:
        """Keep a sign-in that lacks a step, and return the visitor with it."""
        fresh_login, keep = new_fresh_login(), self.partial_sign_ins.keep
        partial = await keep(
            sign_in, parked_id=parked_id, browser=visitor.browser, fresh_login=fresh_login
        )
        return replace(visitor, partial=partial, fresh_login=fresh_login)

    async def _begin_session(
        self, visitor: Visitor, sign_in: SignIn, *, user_agent: str, address: str
    ) -> Visitor:
        """Begin a session, and return the visitor with it and its new cookie."""
        fresh_login = new_fresh_login()
        session, cookie = await self.sessions.start(
            sign_in,
            previous=visitor.session,
            user_agent=user_agent,
            address=address,
            browser=visitor.browser,
            fresh_login=fresh_login,
        )
        return replace(
            visitor,
            session=session,
            user_claims=await self.subjects.find_claims(session) or {},
            browser_state=browser_state_of(session.id),
            new_cookie=cookie,
            partial=None,
            fresh_login=fresh_login,
        )

    async def find_own_session(self, visitor: Visitor) -> Session | None:
        """Return the session for the own account; None where a step is missing, such as a factor that was enrolled since."""
        session = visitor.session
        if session is None:
            return None
        missing = await self.find_missing_step(SignIn.of_session(session), None)
        return None if missing is not None else session

    async def find_fresh_session(self, visitor: Visitor) -> Session | None:
        """Return the session if its sign-in is recent enough to change factors."""
        session = await self.find_own_session(visitor)
        return session if session and await self._follows(visitor, session) else None

    async def has_just_proved(self, visitor: Visitor, sign_in: SignIn) -> bool:
        """Return whether the visitor has just proved who this is, for a request or for the session."""
        partial, session = visitor.partial, visitor.session
        if (
            partial is not None and partial.sign_in == sign_in
        ):  # which another browser does not find
            return await self.fresh_logins.follows(visitor.fresh_login, partial)
        return session is not None and await self._follows(visitor, session)

    async def _follows(self, visitor: Visitor, session: Session) -> bool:
        """Return whether the user has just signed in with this browser and come from there: copied cookies do not prove it."""
        is_here = hmac.compare_digest(session.browser_digest, digest(visitor.browser))
        return is_here and await self.fresh_logins.follows(visitor.fresh_login, session)
