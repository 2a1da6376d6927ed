"""Finds the session of a user who comes to the own account, where no step may be missing from the sign-in (ASVS 7.5.1)."""

from __future__ import annotations

from aiohttp import web

from service.authorize.second_factor import SECOND_FACTOR
from service.authorize.steps import LOGIN
from service.clock import clock
from service.identity.sign_ins import SignIn
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
    """Return the session of a user who has just signed in, and may change how to sign in."""
    session = await find_own_session(sign_in, visit)
    is_fresh = session is not None and clock() - session.auth_time < FRESH
    return session if is_fresh else None


def ask_for_session(sign_in: SignInPages, visit: Visit, path: str) -> web.Response:
    """Send the browser to the step without which `find_own_session` finds nothing; it leads back to this path."""
    at = SECOND_FACTOR if visit.visitor.session else LOGIN
    return sign_in.go_to_login(visit, path, at.path)
