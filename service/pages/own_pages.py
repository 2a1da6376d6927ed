"""Names the pages of the own account, which of them a sign-in may lead back to, and what they carry from one to the next."""

from __future__ import annotations

import re
from collections.abc import Mapping

from service.authorize.second_factor import SECOND_FACTOR
from service.protocol.params import Params

ACCOUNT = "/account"
"""The page after a sign-in that no client asked for."""

REQUESTS = "/account/requests"
"""The page at which the user answers CIBA requests."""

SECURITY = "/account/security"
"""The page at which the user manages second factors."""

ADD_FACTOR = f"{SECURITY}/add"
"""The page at which the user adds one, there or while signing in."""

FRESH_LOGIN = "fresh_login"
"""The parameter by which a page shows that it follows a sign-in (docs/decisions/sign-in/fresh-login.md)."""

_RETURN_TO = re.compile(rf"{REQUESTS}(/[\w-]{{16}})?|{SECURITY}(/add(\?method=[a-z]+)?)?", re.ASCII)
"""The pages that may ask for a sign-in and be returned to."""


def return_path(params: Params) -> str:
    """Return the page of this service that asked for the sign-in; the account if none did."""
    path = params.get("return_to") or ""
    return path if _RETURN_TO.fullmatch(path) else ACCOUNT


def carry_fresh_login(path: str, fresh_login: str) -> Mapping[str, str]:
    """Return the parameter for a page at which factors are added or changed; none for other pages, and without a sign-in."""
    is_needed = fresh_login and path.startswith((SECURITY, SECOND_FACTOR.path))
    return {FRESH_LOGIN: fresh_login} if is_needed else {}
