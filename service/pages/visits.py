"""Who is at the browser? Reads the cookies and looks up the live session behind them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from service.authorize.flow import Visitor
from service.http.proxy import ClientAddress
from service.identity.sessions import Sessions, SignIn
from service.identity.subjects import Subjects
from service.model.session import Session
from service.pages.cookies import Cookies
from service.protocol.session_state import SIGNED_OUT, browser_state_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Visits:
    """Finds visitors, signs them in and out."""

    cookies: Cookies
    sessions: Sessions
    subjects: Subjects
    client_address: ClientAddress

    async def visitor(self, request: web.Request) -> Visitor:
        """The browser's mark, new where it has none, and the session of an active user."""
        browser = self.cookies.browser(request) or secrets.token_urlsafe(24)
        cookie = self.cookies.session(request)
        session = await self.sessions.find(cookie) if cookie else None
        user_claims = await self.subjects.claims_of(session) if session else None
        if session is None or user_claims is None:
            return Visitor(browser=browser, browser_state=self._state_of_stranger(request))
        await self.sessions.touch(session)
        return _signed_in(browser, session, user_claims)

    async def shown_user(self, visitor: Visitor) -> Mapping[str, object]:
        """How a page names the person who is signed in."""
        if visitor.session is None:
            return {"name": "", "username": ""}
        username = await self.subjects.username_of(visitor.session) or ""
        name = visitor.user_claims.get("name") or username or visitor.session.subject
        return {"name": name, "username": username}

    def mark(self, request: web.Request, response: web.Response, visitor: Visitor) -> web.Response:
        """Let the browser keep its mark, and show scripts who is signed in now."""
        if self.cookies.browser(request) != visitor.browser:
            self.cookies.set_browser(response, visitor.browser)
        if (self.cookies.browser_state(request) or SIGNED_OUT) != visitor.browser_state:
            lasts = _lasts(visitor.session) if visitor.session else 0
            self.cookies.set_browser_state(response, visitor.browser_state, max_age=lasts)
        return response

    async def sign_in(
        self, request: web.Request, visitor: Visitor, who: SignIn, *, remember: bool
    ) -> tuple[Visitor, str]:
        """The visitor after a sign-in, and the new session cookie's value."""
        session, cookie = await self.sessions.start(
            who,
            previous=visitor.session,
            remember=remember,
            user_agent=request.headers.get("User-Agent", ""),
            address=self.client_address.of(request),
        )
        user_claims = await self.subjects.claims_of(session) or {}
        return _signed_in(visitor.browser, session, user_claims), cookie

    def keep(self, response: web.Response, session: Session, cookie: str) -> None:
        """Let the browser keep the session, for good only where the person wants it."""
        lasts = _lasts(session)
        self.cookies.set_session(response, cookie, max_age=lasts)
        self.cookies.set_browser_state(response, browser_state_of(session.id), max_age=lasts)

    def _state_of_stranger(self, request: web.Request) -> str:
        """Signed out where the session's cookie leads nowhere; where none is sent there is no telling.

        In another site's frame the browser keeps it to itself, though somebody may be signed in.
        """
        if self.cookies.session(request) is not None:
            return SIGNED_OUT
        return self.cookies.browser_state(request) or SIGNED_OUT


def _signed_in(browser: str, session: Session, user_claims: Mapping[str, object]) -> Visitor:
    state = browser_state_of(session.id)
    return Visitor(browser=browser, session=session, user_claims=user_claims, browser_state=state)


def _lasts(session: Session) -> int | None:
    """Seconds that the cookies stay; None: until the browser closes."""
    return session.ends_at - session.started_at if session.remember else None
