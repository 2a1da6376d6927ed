"""Remembers which accounts here a provider's users have had, so that the provider can name them after their sessions have ended, too."""

from __future__ import annotations

from collections.abc import Iterable

from service.clock import clock
from service.model.handle import digest
from service.model.session import Session
from service.model.user import LOCAL
from service.store.stores import Stores
from service.store.verbs import STEP, Command

REMEMBERED = 365 * 24 * 3600
"""Seconds since the last sign-in; no grant without a session lives longer without one, unless the operator wants it."""


def note(stores: Stores, session: Session) -> list[Command]:
    """Note the account under the user's `sub` at the provider, and under the address that the provider says is verified."""
    places, known = list[str](), session.provider_session
    if known is not None:
        places.append(_place_of_sub(session.idp, known.sub))
    email, is_verified = (session.user_claims.get(name) for name in ("email", "email_verified"))
    if session.idp != LOCAL and isinstance(email, str) and is_verified is True:
        places.append(_place_of_email(session.idp, email))
    until = clock() + REMEMBERED
    return [
        stores.provider_accounts.add(place, session.subject, expires_at=until) for place in places
    ]


async def find_by_sub(stores: Stores, idp: str, sub: str) -> Iterable[str]:
    """Return the subjects that the provider's user has had; of many the latest."""
    return await _find(stores, [_place_of_sub(idp, sub)])


async def find_by_email(stores: Stores, idps: Iterable[str], email: str) -> Iterable[str]:
    """Return the subjects that users of these providers with this address have had, likewise."""
    return await _find(stores, [_place_of_email(idp, email) for idp in idps])


async def _find(stores: Stores, places: list[str]) -> Iterable[str]:
    accounts = stores.provider_accounts
    found = await stores.kv.read_members(*[accounts.last(each, count=STEP) for each in places])
    return {subject for members in found for subject in members}


def _place_of_sub(idp: str, sub: str) -> str:
    return digest(f"account {idp} {sub}")  # names of providers hold no space


def _place_of_email(idp: str, email: str) -> str:
    return digest(f"address {idp} {email.lower()}")
