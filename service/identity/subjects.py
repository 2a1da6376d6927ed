"""Is this person still active, and what is known of them?"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from service.model.authorization import Authorization
from service.model.registry import LiveRegistry
from service.model.session import Session
from service.model.user import LOCAL, UserStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """Tells of local users what the user store says now, of others what their provider said then."""

    users: UserStore
    registry: LiveRegistry

    async def claims_of(self, person: Authorization | Session) -> Mapping[str, object] | None:
        """Return the user's claims; None if the user, or the user's provider, is disabled or gone (RFC 7662 §2.2)."""
        if person.subject is None:
            return {}
        if person.idp != LOCAL:
            is_known = person.idp is None or person.idp in self.registry.current.identity_providers
            return person.user_claims if is_known else None
        user = await self.users.by_subject(person.subject)
        return user.claims if user is not None and user.enabled else None

    async def username_of(self, session: Session) -> str | None:
        """The name a local user signs in by, or what an identity provider calls the user."""
        if session.idp == LOCAL:
            user = await self.users.by_subject(session.subject)
            return user.username if user is not None else None
        named = session.user_claims.get("preferred_username") or session.user_claims.get("email")
        return str(named) if named else None
