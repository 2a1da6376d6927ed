"""Finds the session for the pages of the own account, for which no step of the sign-in may be missing (ASVS 7.5.1)."""

from __future__ import annotations

import hmac

from aiohttp import web

from service.authorize.second_factor import SECOND_FACTOR
from service.authorize.steps import LOGIN
from service.identity.sign_ins import SignIn
from service.model.handle import digest
from service.model.session import Session
from service.pages.sign_in_pages import SignInPages, Visit


async def find_own_session(sign_in: SignInPages, visit: Visit) -> Session | None:
    """Return the visitor's session; None where a step is missing from it, such as a factor that was enrolled since."""
    session = visit.visitor.session
    if session is None:
        return None
    missing = await sign_in.flow.find_missing_step(SignIn.of_session(session), None)
    return None if missing is not None else session


async def find_fresh_session(sign_in: SignInPages, visit: Visit) -> Session | None:
    """Return the session if its sign-in is recent enough to change factors."""
    session = await find_own_session(sign_in, visit)
    return session if session and await _is_fresh(sign_in, session, visit) else None


async def is_fresh(sign_in_pages: SignInPages, sign_in: SignIn, visit: Visit) -> bool:
    """Return whether the visitor has just proved who this is, for a request or for the session."""
    partial, session = visit.visitor.partial, visit.visitor.session
    if partial is not None and partial.sign_in == sign_in:  # which another browser does not find
        return await sign_in_pages.visits.fresh_logins.follows(visit.visitor.fresh_login, partial)
    return session is not None and await _is_fresh(sign_in_pages, session, visit)


async def _is_fresh(sign_in: SignInPages, session: Session, visit: Visit) -> bool:
    """Return whether the user has just signed in with this browser and come from there: copied cookies do not prove it."""
    is_here = hmac.compare_digest(session.browser_digest, digest(visit.visitor.browser))
    follows = sign_in.visits.fresh_logins.follows
    return is_here and await follows(visit.visitor.fresh_login, session)


def ask_for_session(sign_in: SignInPages, visit: Visit, path: str) -> web.Response:
    """Send the browser to the step without which `find_own_session` finds nothing; it leads back to this path."""
    at = SECOND_FACTOR if visit.visitor.session else LOGIN
    return sign_in.go_to_login(visit, path, at.path)
