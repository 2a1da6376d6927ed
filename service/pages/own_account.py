"""Finds the session for the pages of the own account, for which no step of the sign-in may be missing (ASVS 7.5.1)."""

from __future__ import annotations

import hmac

from aiohttp import web

from service.authorize.second_factor import SECOND_FACTOR
from service.authorize.steps import LOGIN
from service.clock import clock
from service.identity.sign_ins import SignIn
from service.model.handle import digest
from service.model.session import Session
from service.pages.sign_in_pages import SignInPages, Visit

FRESH = 300
"""Seconds since the sign-in within which second factors may be changed."""


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
    return session if session is not None and _is_fresh(session, visit) else None


def is_fresh(sign_in: SignIn, visit: Visit) -> bool:
    """Return whether the visitor has just proved who this is, for a request or for the session."""
    partial, session = visit.visitor.partial, visit.visitor.session
    if partial is not None and partial.sign_in == sign_in:  # which another browser does not find
        return clock() - sign_in.auth_time < FRESH
    return session is not None and _is_fresh(session, visit)


def _is_fresh(session: Session, visit: Visit) -> bool:
    """Return whether the user has just signed in with this browser: a copied cookie does not prove it."""
    is_here = hmac.compare_digest(session.browser_digest, digest(visit.visitor.browser))
    return is_here and clock() - session.auth_time < FRESH


def ask_for_session(sign_in: SignInPages, visit: Visit, path: str) -> web.Response:
    """Send the browser to the step without which `find_own_session` finds nothing; it leads back to this path."""
    at = SECOND_FACTOR if visit.visitor.session else LOGIN
    return sign_in.go_to_login(visit, path, at.path)
