"""Shows users, wherever they come from, with their sessions, grants and second factors.

The ids are those of sessions (`sid`), of grants and of factors: nobody can act by one of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal, TypeVar

import msgspec

from service.admin.views.page import Page, Paging, cut_members, read_member
from service.clock import clock, time_of
from service.identity.access import Authorizations
from service.identity.factors.guesses import Guesses
from service.identity.factors.stored import EnrolledFactors, FactorsUnreadable
from service.identity.passwords import usable_hash
from service.identity.sessions import Sessions
from service.identity.users import Directory
from service.model.authorization import Authorization
from service.model.factors import Factors, Passkey, Totp
from service.model.handle import digest, is_selector
from service.model.session import Session
from service.model.user import Identity, User
from service.protocol.authorization_details import types_of
from service.protocol.claims import find_text
from service.protocol.errors import InvalidRequest
from service.store.records import Index, read_page
from service.store.stores import Stores
from service.store.verbs import Read

T = TypeVar("T")


class UserView(msgspec.Struct, frozen=True, kw_only=True):
    """A user of the user source, or one whom an identity provider has signed in."""

    sub: str
    username: str | None
    enabled: bool
    tenant: str | None
    source: str
    """`users.source`, or the name of the identity provider."""
    password: str | None
    """The kind of the hash; None where there is none, or where the source verifies passwords."""
    identities: tuple[Identity, ...]
    """Who the user is at identity providers."""
    claims: Mapping[str, object]
    factors: tuple[str, ...]
    """The kinds of second factors, each as often as there is one; `unreadable` if no configured key decrypts them."""
    factors_locked_until: datetime | None
    """The end of the lock after wrong codes."""
    sessions: int
    grants: int


class SessionView(msgspec.Struct, frozen=True, kw_only=True):
    """A sign-in of a user that later requests may rely on."""

    id: str
    sub: str
    idp: str
    amr: tuple[str, ...]
    acr: str | None
    signed_in_at: datetime
    started_at: datetime
    last_used_at: datetime
    ends_at: datetime
    remember: bool
    address: str | None
    user_agent: str


class GrantView(msgspec.Struct, frozen=True, kw_only=True):
    """The access that a user has granted a client, while tokens of it are valid."""

    id: str
    sub: str | None
    client_id: str
    session_id: str | None
    grant_type: str | None
    scope: tuple[str, ...]
    resources: tuple[str, ...]
    authorization_details_types: tuple[str, ...]
    idp: str | None
    amr: tuple[str, ...]
    offline: bool
    """Whether it outlives the session."""
    granted_at: datetime


class FactorView(msgspec.Struct, frozen=True, kw_only=True):
    """A second factor; the recovery codes are one."""

    id: str
    kind: Literal["otp", "passkey", "recovery_codes"]
    name: str | None = None
    """The name that the user has given it."""
    created_at: datetime | None = None
    last_used_at: datetime | None = None
    remaining: int | None = None
    """Recovery codes that have not been used."""


class UserViews(msgspec.Struct, frozen=True, kw_only=True):
    source: str
    users: Directory
    stores: Stores
    sessions: Sessions
    authorizations: Authorizations
    factors: EnrolledFactors
    guesses: Guesses

    async def find_users(self, by: str, value: str) -> Page[UserView]:
        """Return the user with this `username`, `email` or `sub`, or nobody; raise InvalidRequest where the source cannot tell."""
        if by == "email" and (gap := self.users.email_gap):
            raise InvalidRequest(f"users cannot be found by e-mail address: {gap}")
        if by == "sub":
            view = await self.find_user(value)
        else:
            find = self.users.by_email if by == "email" else self.users.by_username
            user = await find(value)
            if user == "several":
                raise InvalidRequest(
                    "several users have this e-mail address: ask by username or sub"
                )
            view = None if user is None else await self._show_user(user.sub, user, None)
        return Page(items=() if view is None else (view,))

    async def find_user(self, sub: str) -> UserView | None:
        """Return the user; None if neither the source nor the store knows one."""
        user = await self.users.by_subject(sub)
        if user is not None:
            return await self._show_user(sub, user, None)
        (newest, _) = await self._read_sessions(sub, Paging(limit=1))
        view = await self._show_user(sub, None, next(iter(newest), None))
        is_known = view.sessions or view.grants or view.factors
        return view if is_known else None

    async def list_sessions(self, sub: str, paging: Paging) -> Page[SessionView] | None:
        """Return a page of the sessions of a user, those first that end last; None for nobody's `sub`."""
        found, following = await self._read_sessions(sub, paging)
        if not found and following is None and not await self._is_known(sub):
            return None
        uses = await self.sessions.find_last_uses(found)
        items = [_show_session(one, use) for one, use in zip(found, uses, strict=True)]
        return Page(items=tuple(items), next=following)

    async def list_grants(self, sub: str, paging: Paging) -> Page[GrantView] | None:
        """Return a page of the grants of a user, those first that end last; None for nobody's `sub`."""
        index, read = self.stores.subject_authorizations, self.stores.authorizations.read
        found, following = await self._read_page(index, sub, paging, read)
        if not found and following is None and not await self._is_known(sub):
            return None
        return Page(items=tuple(map(_show_grant, found)), next=following)

    async def list_factors(self, sub: str) -> Page[FactorView] | None:
        """Return the second factors of a user; None for nobody's `sub`."""
        found = await self.factors.find(sub)
        if found == Factors() and not await self._is_known(sub):
            return None
        return Page(items=tuple(_show_factors(found)))

    async def find_session(self, sid: str) -> SessionView | None:
        session = await self.sessions.find_by_id(sid)
        if session is None:
            return None
        (last_use,) = await self.sessions.find_last_uses([session])
        return _show_session(session, last_use)

    async def find_grant(self, grant_id: str) -> GrantView | None:
        found = await self.authorizations.find(grant_id)
        return None if found is None else _show_grant(found)

    async def _read_sessions(self, sub: str, paging: Paging) -> tuple[list[Session], str | None]:
        index, read = self.stores.subject_sessions, self.stores.sessions.read
        found, following = await self._read_page(index, sub, paging, read)
        now = clock()
        return [session for session in found if now < session.ends_at], following

    async def _read_page(
        self, index: Index, sub: str, paging: Paging, read: Callable[[str], Read[T]]
    ) -> tuple[list[T], str | None]:
        """Return the records of a page that still exist, in one command for the page and one for each record."""
        after = read_member(paging, is_selector)
        page = index.page(digest(sub), after, count=paging.limit + 1)
        (answer,) = await self.stores.kv.write(page)
        shown, following = cut_members(read_page(answer), paging)
        walk = self.stores.walk([one.name for one in shown], read)
        return [one async for some in walk for one in some], following

    async def _is_known(self, sub: str) -> bool:
        """Return whether a `sub` is somebody's."""
        if await self.users.by_subject(sub) is not None or any(await self._count(sub)):
            return True
        return await self.factors.find(sub) != Factors()

    async def _count(self, sub: str) -> Sequence[int]:
        """Return how many sessions and grants a user has."""
        stores, owner = self.stores, digest(sub)
        indexes = (stores.subject_sessions, stores.subject_authorizations)
        return await stores.kv.write(*[index.count(owner) for index in indexes])

    async def _name_factors(self, sub: str) -> tuple[str, ...]:
        try:
            return tuple([one.kind for one in _show_factors(await self.factors.find(sub))])
        except FactorsUnreadable:
            return ("unreadable",)

    async def _show_user(self, sub: str, user: User | None, session: Session | None) -> UserView:
        """Return the view of a user of the source, or of a user with a session by an identity provider."""
        sessions, grants = await self._count(sub)
        locked_until = await self.guesses.find_locked_until(sub)
        claims = user.claims if user else session.user_claims if session else {}
        tenant = claims.get("tenant")
        known = usable_hash(user.password) if user else None
        return UserView(
            sub=sub,
            username=user.username if user else find_text(claims, "preferred_username", "email"),
            enabled=user is None or user.enabled,
            tenant=tenant if isinstance(tenant, str) else None,
            source=self.source if user else session.idp if session else "unknown",
            password=None if known is None else known.scheme,
            identities=user.identities if user else (),
            claims=claims,
            factors=await self._name_factors(sub),
            factors_locked_until=None if locked_until is None else time_of(locked_until),
            sessions=sessions,
            grants=grants,
        )


def _show_session(session: Session, last_use: int) -> SessionView:
    return SessionView(
        id=session.id,
        sub=session.subject,
        idp=session.idp,
        amr=session.methods,
        acr=session.acr,
        signed_in_at=time_of(session.auth_time),
        started_at=time_of(session.started_at),
        last_used_at=time_of(last_use),
        ends_at=time_of(session.ends_at),
        remember=session.remember,
        address=session.address or None,
        user_agent=session.user_agent,
    )


def _show_grant(granted: Authorization) -> GrantView:
    return GrantView(
        id=granted.id,
        sub=granted.subject,
        client_id=granted.client_id,
        session_id=granted.session_id,
        grant_type=granted.grant_type,
        scope=tuple(sorted(granted.scope)),
        resources=granted.resources,
        authorization_details_types=tuple(types_of(granted.authorization_details)),
        idp=granted.idp,
        amr=granted.amr,
        offline=granted.is_offline,
        granted_at=time_of(granted.created_at),
    )


def _show_factors(factors: Factors) -> Iterator[FactorView]:
    """Yield the user's factors; a passkey is named by a hash of its id."""
    if factors.totp is not None:
        yield _show_factor("otp", factors.totp.id, factors.totp)
    for passkey in factors.passkeys:
        yield _show_factor("passkey", digest(passkey.credential_id)[:16], passkey)
    if factors.recovery_codes:
        count = len(factors.recovery_codes)
        yield FactorView(id="recovery_codes", kind="recovery_codes", remaining=count)


def _show_factor(kind: Literal["otp", "passkey"], id_: str, factor: Totp | Passkey) -> FactorView:
    return FactorView(
        id=id_,
        kind=kind,
        name=factor.name,
        created_at=time_of(factor.created_at),
        last_used_at=None if factor.last_used is None else time_of(factor.last_used),
    )
