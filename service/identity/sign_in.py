"""A user's authentication; one that lacks a step is kept apart: no page and no client accepts it.

The store knows the hash of a partial sign-in's id alone; the content is encrypted with a key that
is derived from the id. A value next to the cookies proves that a page follows a recent sign-in (ASVS 7.5.1).
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from service.clock import clock
from service.keys.sealing import Unreadable, open_by_id, seal_as_before
from service.model.handle import digest
from service.model.session import ProviderSession, SealedSignIn, Session
from service.store.stores import Stores
from service.store.verbs import Command, Read

LIFETIME = 15 * 60
"""Seconds that a user has for the next step."""
FRESH = 300
"""Seconds since the sign-in within which second factors may be changed."""


class SignIn(msgspec.Struct, frozen=True, kw_only=True):
    """A user's authentication; it becomes a session when no step is missing from it."""

    subject: str
    idp: str
    amr: tuple[str, ...]
    """The methods of the first factor, here or at the identity provider."""
    auth_time: int
    """When the user last proved anything; seconds since the epoch."""
    acr: str | None = None
    """The authentication context that an identity provider named."""
    user_claims: Mapping[str, object] = msgspec.field(default_factory=dict[str, object])
    """The claims from an identity provider; empty for a local user."""
    remember: bool = False
    second_factor_amr: tuple[str, ...] = ()
    """The methods of further proofs, after the password or the identity provider."""
    provider_session: ProviderSession | None = None
    """None for a user who signed in here."""
    began_at: int = 0
    """When the first of several proofs was asked for; 0 where there was one, at `auth_time`."""

    @property
    def since(self) -> int:
        """The time before which all access of the user may have ended without regard to this sign-in."""
        return self.began_at or self.auth_time

    @classmethod
    def of_session(cls, session: Session) -> SignIn:
        """Return the authentication that began the session, so that a factor can be added to it."""
        return msgspec.convert(session, cls, from_attributes=True)

    @property
    def methods(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.amr, *self.second_factor_amr)))

    def with_second_factor(self, amr: tuple[str, ...], *, at: int) -> SignIn:
        methods = tuple(dict.fromkeys((*self.second_factor_amr, *amr)))
        auth_time = max(self.auth_time, at)
        return replace(self, second_factor_amr=methods, auth_time=auth_time, began_at=self.since)


class PartialSignIn(msgspec.Struct, frozen=True, kw_only=True):
    """The factors that are done, for one request of one browser."""

    id: str
    sign_in: SignIn
    parked_id: str
    """The authorization request; empty where the user signs in to the own account."""


_PURPOSE = b"sign-in"
_decode = msgspec.json.Decoder(PartialSignIn).decode


class PartialSignIns(msgspec.Struct, frozen=True):
    """Keeps each for the browser that began it, to be continued once."""

    stores: Stores

    async def keep(
        self, sign_in: SignIn, *, parked_id: str, browser: str, fresh_login: str
    ) -> PartialSignIn:
        partial_id = secrets.token_urlsafe(32)
        partial = PartialSignIn(id=partial_id, sign_in=sign_in, parked_id=parked_id)
        sealed = seal_as_before(msgspec.json.encode(partial), partial_id, _PURPOSE)
        record = SealedSignIn(sealed=sealed, browser_digest=digest(browser))
        kept = self.stores.partial_sign_ins.put(record, digest(partial_id), ttl=LIFETIME)
        await self.stores.kv.write(kept, note_fresh_login(self.stores, fresh_login, partial))
        return partial

    def reads(self, partial_id: str) -> Read[SealedSignIn]:
        """Return what reads the sign-in."""
        return self.stores.partial_sign_ins.read(digest(partial_id))

    def open(
        self, partial_id: str, record: SealedSignIn | None, *, browser: str
    ) -> PartialSignIn | None:
        """Return the sign-in that was found by `reads`; None where it expired or another browser began it."""
        if record is None or not hmac.compare_digest(record.browser_digest, digest(browser)):
            return None
        try:
            return _decode(open_by_id(record.sealed, partial_id, _PURPOSE))
        except (Unreadable, msgspec.MsgspecError):
            return None

    async def end(self, partial: PartialSignIn) -> bool:
        """Remove the sign-in; False if it has expired or another request was faster."""
        drop = self.stores.partial_sign_ins.drop(digest(partial.id))
        (removed,) = await self.stores.kv.write(drop)
        return bool(removed)


def new_fresh_login() -> str:
    """Return the value of a sign-in that is in no cookie: the pages after it carry it from one to the next."""
    return secrets.token_urlsafe(16)


def note_fresh_login(stores: Stores, fresh_login: str, who: Session | PartialSignIn) -> Command:
    """Return the command that writes whose sign-in the value is of; it has been completed just now, or lacks a step."""
    return stores.fresh_logins.put(digest(fresh_login), _selector(who), ttl=FRESH)


class FreshLogins(msgspec.Struct, frozen=True):
    stores: Stores

    async def follows(self, fresh_login: str, who: Session | PartialSignIn) -> bool:
        """Return whether a page with this value follows the sign-in, and not long after."""
        at = who.auth_time if isinstance(who, Session) else who.sign_in.auth_time
        if clock() - at >= FRESH:
            return False
        (kept,) = await self.stores.kv.read(self.stores.fresh_logins.read(_selector(who)))
        return kept is not None and hmac.compare_digest(kept, digest(fresh_login))


def _selector(who: Session | PartialSignIn) -> str:
    return who.id if isinstance(who, Session) else digest(who.id)
