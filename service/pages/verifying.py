"""Finds why a user with a session is asked to sign in again: the login page says it (ASVS 7.5.1)."""

from __future__ import annotations

from typing import Literal

import msgspec

from service.model.user import LOCAL
from service.pages.factor_pages import find_turn
from service.pages.own_account import is_fresh
from service.pages.own_pages import ACCOUNT, REQUESTS, SECURITY, return_path
from service.pages.sign_in_pages import SignInPages, Visit, WaitingRequest


class Verifying(msgspec.Struct, frozen=True, kw_only=True):
    """A login by which a user proves once more who it is."""

    reason: Literal["factors", "request"]
    """Second factors are to be added or changed, or a CIBA request is to be answered."""
    username: str
    """Empty for the user of an identity provider, who has no password here."""
    cancel_path: str | None
    """The page of the own account to go back to; None where a client waits for the answer."""


async def find_verifying(
    sign_in: SignInPages, visit: Visit, waiting: WaitingRequest | None
) -> Verifying | None:
    """Return why the page is shown to a known user; None for any other login."""
    visitor = visit.visitor
    so_far = visitor.sign_in_for(waiting.parked.id if waiting else "")
    if so_far is None:
        return None
    path, is_at_own_account = return_path(visit.params), waiting is None and visitor.session
    if is_at_own_account and path == ACCOUNT:
        return None
    if not is_at_own_account:
        turn = await find_turn(sign_in, sign_in.flow.second_factors, visit, waiting)
        if turn is None or not turn.enrollable or await is_fresh(sign_in, turn.sign_in, visit):
            return None
    username = await sign_in.visits.subjects.find_username(so_far) if so_far.idp == LOCAL else None
    is_of_request = is_at_own_account and path.startswith(REQUESTS)
    back = REQUESTS if is_of_request else SECURITY
    return Verifying(
        reason="request" if is_of_request else "factors",
        username=username or "",
        cancel_path=back if is_at_own_account else None,
    )
