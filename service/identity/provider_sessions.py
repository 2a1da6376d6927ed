"""Finds the sessions here that came from a session at an identity provider, so that they end with it (OIDC Back-Channel Logout §2.7)."""

from __future__ import annotations

from service.model.handle import digest
from service.model.session import ProviderSession, Session
from service.store.stores import Stores
from service.store.verbs import Command

REMEMBERED = 3600
"""Seconds for which a sign-in on its way is refused after the logout there; it takes half an hour at most."""


def enlist(stores: Stores, session: Session) -> list[Command]:
    """Note the session under its user and session at the provider, until its absolute end."""
    return [
        stores.provider_sessions.add(place, session.id, expires_at=session.ends_at)
        for place in _find_places(session.idp, session.provider_session)
    ]


def unlist(stores: Stores, session: Session) -> list[Command]:
    return [
        stores.provider_sessions.remove(place, session.id)
        for place in _find_places(session.idp, session.provider_session)
    ]


async def has_ended(stores: Stores, session: Session) -> bool:
    """Return whether the session at the provider ended before this one was listed.

    A logout notes itself before it looks for sessions, and a session is listed before this looks for
    logouts: so one of the two finds the other, whichever replicas they are at.
    """
    known = session.provider_session
    if known is None:
        return False
    places = _find_places(session.idp, known)
    times = await stores.kv.read(*[stores.provider_logouts.read(place) for place in places])
    of_user, *of_session = times
    return any(time is not None for time in of_session) or (
        of_user is not None and known.at <= of_user
    )


async def note_logout(
    stores: Stores, idp: str, *, sub: str | None, sid: str | None, at: int
) -> None:
    """Refuse sign-ins that come from this session, or without a `sid` those of this user before `at`."""
    place = _place_of_user(idp, sub or "") if sid is None else _place_of_session(idp, sid)
    await stores.kv.write(stores.provider_logouts.put(at, place, ttl=REMEMBERED), durable=True)


async def find_sessions(
    stores: Stores, idp: str, *, sub: str | None, sid: str | None
) -> tuple[Session, ...]:
    """Return the sessions that came from there; one whose `sid` is unknown counts as any of its user's."""
    places = [] if sub is None else [_place_of_user(idp, sub)]
    places += [] if sid is None else [_place_of_session(idp, sid)]
    found: dict[str, Session] = {}
    for place in places:
        members = stores.provider_sessions.members(place)
        for session in await stores.read_listed(members, stores.sessions.read):
            known = session.provider_session
            if known is None or session.idp != idp or (sub is not None and known.sub != sub):
                continue
            if sid is None or known.sid in {None, sid}:
                found[session.id] = session
    return tuple(found.values())


def _find_places(idp: str, known: ProviderSession | None) -> list[str]:
    """Return the selectors of the user and, if it is known, of the session at the provider."""
    if known is None:
        return []
    of_session = [] if known.sid is None else [_place_of_session(idp, known.sid)]
    return [_place_of_user(idp, known.sub), *of_session]


def _place_of_user(idp: str, sub: str) -> str:
    return digest(f"user {idp} {sub}")  # names of providers hold no space


def _place_of_session(idp: str, sid: str) -> str:
    return digest(f"session {idp} {sid}")
