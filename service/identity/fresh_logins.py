"""Proves that an account page follows a recent login, not a stolen cookie (ASVS 7.5.1)."""

from __future__ import annotations

import hmac
import secrets

import msgspec

from service.clock import clock
from service.identity.sign_in import PartialSignIn
from service.model.handle import digest
from service.model.session import Session
from service.store.stores import Stores

FRESH = 300
"""Seconds since the sign-in within which second factors may be changed."""


class FreshLogins(msgspec.Struct, frozen=True):
    """Gives each sign-in a value that is in no cookie: the pages after it carry it from one to the next."""

    stores: Stores

    async def begin(self, who: Session | PartialSignIn) -> str:
        """Return the value of a sign-in that has just been completed, or lacks a step."""
        fresh_login = secrets.token_urlsafe(16)
        write = self.stores.fresh_logins.put(digest(fresh_login), _selector(who), ttl=FRESH)
        await self.stores.kv.write(write)
        return fresh_login

    async def follows(self, fresh_login: str, who: Session | PartialSignIn) -> bool:
        """Return whether a page with this value follows the sign-in, and not long after."""
        at = who.auth_time if isinstance(who, Session) else who.sign_in.auth_time
        if clock() - at >= FRESH:
            return False
        (kept,) = await self.stores.kv.read(self.stores.fresh_logins.read(_selector(who)))
        return kept is not None and hmac.compare_digest(kept, digest(fresh_login))


def _selector(who: Session | PartialSignIn) -> str:
    return who.id if isinstance(who, Session) else digest(who.id)
