"""Asks the users of another system, whatever it is, within limits; its absence is never a refusal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import msgspec
import structlog

from service.caching import BoundedCache
from service.config.schema.users import Users
from service.events.timings import EmitTiming
from service.identity.sources.guarded_requests import Ask, GuardedRequests
from service.identity.sources.last_seen import LastSeen
from service.identity.sources.sql_queries import build_queries
from service.model.factors import Factors, FactorStore
from service.model.user import (
    Closes,
    DisablesUsers,
    FindsByEmail,
    FindsByIdentity,
    ListsUsers,
    ReplacesPasswords,
    Several,
    User,
    UserStore,
    VerifiesPasswords,
)
from service.protocol.errors import TemporarilyUnavailable
from service.protocol.templates import is_subject
from service.protocol.typed_text import is_plain_text, trim_name

log = structlog.stdlib.get_logger(__name__)

MAX_NAME = 255
"""Characters of a name or address; of a longer one, or with a control character, nobody is asked."""

REMEMBERED = 10_000
"""Users of the cache; of a thousand with a few claims each it takes about a megabyte."""

PLAIN_NAME = "nobody@example.com"
"""A name that any system takes, and that is nobody's."""

_Request = Callable[[], Awaitable[User | None]]


class _OwnFactors(msgspec.Struct, frozen=True):
    """The second factors that another system keeps, asked within the limits of all requests to it."""

    store: FactorStore
    ask: Ask

    async def find_factors(self, sub: str) -> Factors:
        return await self.ask(partial(self.store.find_factors, sub))

    async def replace_factors(self, sub: str, factors: Factors, *, instead_of: str) -> bool:
        replacing = partial(self.store.replace_factors, sub, factors, instead_of=instead_of)
        return await self.ask(replacing)


class OutsideUsers:
    """A UserStore of another system, with a time-out, a limit, a circuit breaker and metrics around each request."""

    def __init__(
        self,
        source: UserStore,
        settings: Users,
        last_seen: LastSeen,
        *,
        timed: EmitTiming,
    ) -> None:
        self._source, self._settings = source, settings
        self.requests = GuardedRequests(
            timeout=settings.timeout, at_once=settings.max_concurrent, timed=timed
        )
        self._ask = self.requests.ask
        self._cached_for = settings.cache
        self._last_seen = last_seen
        self._known: BoundedCache[str, User] = BoundedCache(REMEMBERED)
        self._taken_name = self._taken_sub = PLAIN_NAME
        """The name that the system has taken last, and the `sub` that it has found last."""

    async def by_subject(self, sub: str) -> User | None:
        """Return the user, as it was at most `users.cache` ago."""
        return await self._by_subject(sub, self._ask_for_subject)

    async def _by_subject(
        self, sub: str, ask: Callable[[_Request], Awaitable[User | None]]
    ) -> User | None:
        if not is_subject(sub):
            return None
        known = self._known.get(sub) if self._cached_for else None
        if known is not None:
            return known
        user = await ask(partial(self._source.by_subject, sub))
        if user is not None:
            self._taken_sub = sub
        if user is not None and self._cached_for:
            self._known.put(sub, user, seconds=self._cached_for)
        return user

    async def _ask_for_subject(self, request: _Request) -> User | None:
        """Ask about a subject that a client or a foreign token may have named."""
        plain = partial(self._source.by_subject, self._taken_sub)
        found, _ = await self.requests.ask_for_value(request, plain, otherwise=None)
        return found

    def find_in_memory(self, sub: str) -> User | None:
        """Return None: the other system has to be asked."""
        return None

    async def find_token_user(self, sub: str) -> User | None:
        """Return the user; while the system is unavailable, as it was seen at most `users.grace` ago.

        That the system does not take a subject which it once gave ends no token.
        """
        try:
            user = await self._by_subject(sub, self._ask)
        except TemporarilyUnavailable:  # also where too many requests wait for a system that hangs
            seen = await self._last_seen.find(sub)
            if seen is None:
                raise
            return seen
        await self._last_seen.note(sub, user)
        return user

    async def by_username(self, username: str) -> User | None:
        """Return the user as it is now."""
        name, find = trim_name(username), self._source.by_username
        if not is_plain_text(name, longest=MAX_NAME):
            return None
        plain = partial(find, self._taken_name)
        found, is_taken = await self.requests.ask_for_value(
            partial(find, name), plain, otherwise=None
        )
        if is_taken:
            self._taken_name = name
        return found if _can_be_found_again(found) else None

    async def by_email(self, email: str) -> User | Several | None:
        """Return the only user with this verified address; None where the system cannot tell."""
        address = trim_name(email)
        if not isinstance(self._source, FindsByEmail) or not is_plain_text(
            address, longest=MAX_NAME
        ):
            return None
        find = self._source.by_email
        request, plain = partial(find, address), partial(find, PLAIN_NAME)
        answer: tuple[User | Several | None, bool]
        answer = await self.requests.ask_for_value(request, plain, otherwise=None)
        return answer[0] if _can_be_found_again(answer[0]) else None

    @property
    def email_gap(self) -> str | None:
        sql, ldap = self._settings.sql, self._settings.ldap
        if not isinstance(self._source, FindsByEmail):
            return f"users.source {self._settings.source} has no method by_email"
        if self._settings.source == "sql" and sql and "by_email" not in build_queries(sql):
            return "users.sql has neither the query by_email nor the claim email"
        if self._settings.source == "ldap" and ldap:
            if ldap.claims.get("email") is None:
                return "users.ldap.claims has no email"
            if ldap.fixed_claims.get("email_verified") is not True:
                return "users.ldap.fixed_claims does not say that email_verified is true"
        return None

    async def by_identity(self, provider: str, subject: str) -> User | None:
        """Return the user with this identity; None where the system knows none."""
        if not isinstance(self._source, FindsByIdentity) or not is_plain_text(
            subject, longest=MAX_NAME
        ):
            return None
        find = self._source.by_identity
        request, plain = partial(find, provider, subject), partial(find, provider, PLAIN_NAME)
        found, _ = await self.requests.ask_for_value(request, plain, otherwise=None)
        return found if _can_be_found_again(found) else None

    @property
    def factor_store(self) -> FactorStore | None:
        """Return what keeps second factors with the users; None where the service keeps them."""
        source = self._source
        return _OwnFactors(source, self._ask) if isinstance(source, FactorStore) else None

    @property
    def circuit_open(self) -> bool:
        return self.requests.circuit.is_open

    @property
    def waiting(self) -> int:
        return self.requests.waiting

    @property
    def failures(self) -> int:
        return self.requests.failures

    @property
    def verifies_passwords(self) -> bool:
        return isinstance(self._source, VerifiesPasswords)

    async def verify_password(self, username: str, password: str, user: User | None) -> bool:
        """Verify a password at the other system."""
        if not isinstance(self._source, VerifiesPasswords):
            return False
        verify = self._source.verify_password
        request, plain = (
            partial(verify, username, password, user),
            partial(verify, username, "", None),
        )
        is_right, _ = await self.requests.ask_for_value(request, plain, otherwise=False)
        return is_right

    @property
    def can_replace_passwords(self) -> bool:
        return isinstance(self._source, ReplacesPasswords) and self._source.can_replace_passwords

    async def replace_password(self, sub: str, *, old: str, new: str) -> bool:
        """Write the hash of a password, unless another one than `old` is there by now."""
        if not isinstance(self._source, ReplacesPasswords):
            return False
        return await self._ask(partial(self._source.replace_password, sub, old=old, new=new))

    async def list_users(self, prefix: str, limit: int) -> Sequence[User]:
        """Return the first users by name; NotImplementedError where the system cannot list them."""
        if not isinstance(self._source, ListsUsers):
            raise NotImplementedError("users.source cannot list its users; show one by --username")
        listed = await self._ask(partial(self._source.list_users, prefix, limit))
        return [user for user in listed if _can_be_found_again(user)]

    async def set_enabled(self, sub: str, *, enabled: bool) -> bool:
        """Disable or enable a user; NotImplementedError where the system cannot be told to."""
        if not isinstance(self._source, DisablesUsers):
            raise NotImplementedError(
                "users.source cannot be told to disable or enable users: do it there;"
                " `users end` ends what a user has at once"
            )
        known = await self._ask(partial(self._source.set_enabled, sub, enabled=enabled))
        await self._last_seen.note(sub, None)
        return known

    async def close(self) -> None:
        """Close the connections; requests without an answer end."""
        self.requests.cancel()
        if isinstance(self._source, Closes):
            await self._source.close()


def _can_be_found_again(found: User | Several | None) -> bool:
    """Return whether `by_subject` can find this user: all users without a `sub` would share one account."""
    if not isinstance(found, User) or is_subject(found.sub):
        return True
    log.warning(
        "a user of users.source is left out: its sub is not 1 to 255 printable ASCII characters (OIDC Core §2)",
        username=found.username,
    )
    return False
