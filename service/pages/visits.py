"""Finds the live session behind a browser's cookies, writes them, and protects its forms against forgery (ASVS 3.5)."""

from __future__ import annotations

import hmac
import secrets
from base64 import urlsafe_b64encode
from collections.abc import Mapping

import msgspec
from aiohttp import web

from service.authorize.flow import Visitor
from service.http.proxy import ClientAddress
from service.identity.fresh_logins import FreshLogins
from service.identity.sessions import Sessions
from service.identity.sign_ins import LIFETIME, PartialSignIns, SignIn
from service.identity.users import Subjects
from service.pages.cookies import Cookie, Cookies
from service.pages.error_page import FormExpired, WayOn
from service.protocol.authorization_request import SIGNED_OUT, browser_state_of
from service.protocol.params import Params


class Visits(msgspec.Struct, frozen=True, kw_only=True):
    """Finds visitors and signs them in."""

    cookies: Cookies
    sessions: Sessions
    partial_sign_ins: PartialSignIns
    fresh_logins: FreshLogins
    subjects: Subjects
    client_address: ClientAddress

    async def find_visitor(self, request: web.Request) -> Visitor:
        """Return the browser's mark, new if it has none, and the session of an active user."""
        get = self.cookies.get
        browser = get(request, Cookie.BROWSER) or secrets.token_urlsafe(24)
        cookie, partial_id = get(request, Cookie.SESSION), get(request, Cookie.PARTIAL_SIGN_IN)
        partial = partial_id and await self.partial_sign_ins.find(partial_id, browser=browser)
        session = await self.sessions.find(cookie) if cookie else None
        user_claims = await self.subjects.find_claims(session) if session else None
        if session is None or user_claims is None:
            # A frame of another site sends no session cookie, although a user may be signed in:
            # only a cookie without a session proves that nobody is.
            state = SIGNED_OUT if cookie else get(request, Cookie.BROWSER_STATE) or SIGNED_OUT
            return Visitor(browser=browser, browser_state=state, partial=partial or None)
        await self.sessions.touch(session)
        return Visitor(
            browser=browser,
            session=session,
            user_claims=user_claims,
            browser_state=browser_state_of(session.id),
            partial=partial or None,
        )

    def check_form(
        self, request: web.Request, params: Params, *, way_on: WayOn | None = None
    ) -> None:
        """Raise FormExpired unless the form is from a page that this browser, which has a mark, was shown."""
        browser, given = self.cookies.get(request, Cookie.BROWSER), params.get("csrf") or ""
        if not browser or not hmac.compare_digest(csrf_token(browser).encode(), given.encode()):
            description = "the form is not from a page that this browser was shown"
            raise FormExpired(description, way_on=way_on)

    async def shown_user(self, visitor: Visitor) -> Mapping[str, object]:
        """Return the names by which a page shows the user that is signed in."""
        if visitor.session is None:
            return {"name": "", "username": ""}
        username = await self.subjects.find_username(visitor.session) or ""
        name = visitor.user_claims.get("name") or username or visitor.session.subject
        return {"name": name, "username": username}

    def mark(self, request: web.Request, response: web.Response, visitor: Visitor) -> web.Response:
        """Set the cookies that have changed: the browser's mark, its state, and a new session."""
        session = visitor.session
        lasts = session.ends_at - session.started_at if session and session.remember else None
        get, put = self.cookies.get, self.cookies.set
        if get(request, Cookie.BROWSER) != visitor.browser:
            put(response, Cookie.BROWSER, visitor.browser, max_age=None)
        partial_id = visitor.partial.id if visitor.partial else ""
        if get(request, Cookie.PARTIAL_SIGN_IN) != partial_id:
            put(response, Cookie.PARTIAL_SIGN_IN, partial_id, max_age=LIFETIME)
        if (get(request, Cookie.BROWSER_STATE) or SIGNED_OUT) != visitor.browser_state:
            state_lasts = lasts if session else 0
            put(response, Cookie.BROWSER_STATE, visitor.browser_state, max_age=state_lasts)
        if visitor.new_cookie is not None:
            put(response, Cookie.SESSION, visitor.new_cookie, max_age=lasts)
        return response

    async def sign_in(self, request: web.Request, visitor: Visitor, sign_in: SignIn) -> Visitor:
        """Begin a session, and return the visitor with it; `mark` sets its cookie."""
        session, cookie = await self.sessions.start(
            sign_in,
            previous=visitor.session,
            user_agent=request.headers.get("User-Agent", ""),
            address=self.client_address.find(request),
            browser=visitor.browser,
        )
        return Visitor(
            browser=visitor.browser,
            session=session,
            user_claims=await self.subjects.find_claims(session) or {},
            browser_state=browser_state_of(session.id),
            new_cookie=cookie,
            fresh_login=await self.fresh_logins.begin(session),
        )


def csrf_token(browser: str) -> str:
    """Return the value for this browser's forms: derived, so that no replica has to remember it."""
    return urlsafe_b64encode(hmac.digest(browser.encode(), b"csrf", "sha256")).decode()
