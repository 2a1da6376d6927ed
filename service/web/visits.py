"""Who is at the browser? Reads the cookies and looks up the live session behind them."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass

from aiohttp import web

from service.authorize.flow import Visitor
from service.identity.sessions import Sessions, SignIn
from service.identity.subjects import Subjects
from service.model.session import Session
from service.web.cookies import Cookies


@dataclass(frozen=True, slots=True, kw_only=True)
class Visits:
    """Finds visitors, signs them in and out."""

    cookies: Cookies
    sessions: Sessions
    subjects: Subjects

    async def visitor(self, request: web.Request) -> Visitor:
        """The browser's mark, new where it has none, and the session of an active user."""
        browser = self.cookies.browser(request) or secrets.token_urlsafe(24)
        cookie = self.cookies.session(request)
        session = await self.sessions.find(cookie) if cookie else None
        user_claims = await self.subjects.claims_of(session) if session else None
        if session is None or user_claims is None:
            return Visitor(browser=browser)
        await self.sessions.touch(session)
        return Visitor(browser=browser, session=session, user_claims=user_claims)

    async def shown_user(self, visitor: Visitor) -> Mapping[str, object]:
        """How a page names the person who is signed in."""
        if visitor.session is None:
            return {"name": "", "username": ""}
        username = await self.subjects.username_of(visitor.session) or ""
        name = visitor.user_claims.get("name") or username or visitor.session.subject
        return {"name": name, "username": username}

    def mark(self, request: web.Request, response: web.Response, visitor: Visitor) -> web.Response:
        """Let the browser keep its mark."""
        if self.cookies.browser(request) != visitor.browser:
            self.cookies.set_browser(response, visitor.browser)
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
        )
        user_claims = await self.subjects.claims_of(session) or {}
        signed_in = Visitor(browser=visitor.browser, session=session, user_claims=user_claims)
        return signed_in, cookie

    def keep(self, response: web.Response, session: Session, cookie: str) -> None:
        """Let the browser keep the session, for good only where the person wants it."""
        lasts = session.ends_at - session.started_at if session.remember else None
        self.cookies.set_session(response, cookie, max_age=lasts)
