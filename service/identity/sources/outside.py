"""Asks the users of another system, whatever it is, within limits; its absence is never a refusal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from time import monotonic
from typing import Protocol, TypeVar

import msgspec
import structlog

from service.caching import BoundedCache
from service.config.schema.users import Users
from service.identity.passwords import is_plain_text
from service.identity.sources.circuit import Circuit
from service.identity.sources.last_seen import LastSeen
from service.model.events import Emit
from service.model.factors import Factors, FactorStore
from service.model.timings import OthersAnswered
from service.model.user import (
    Closes,
    DisablesUsers,
    FindsByEmail,
    ListsUsers,
    ReplacesPasswords,
    User,
    UserStore,
    UsersUnavailable,
    VerifiesPasswords,
)
from service.protocol.errors import TemporarilyUnavailable

log = structlog.stdlib.get_logger(__name__)

PURPOSE = "users"
"""The label of these questions in the metrics of outgoing requests."""

MAX_NAME = 255
"""Characters of a `sub` (OIDC Core §2), name or address; of a longer one, or with a control character, nobody is asked."""

REMEMBERED = 10_000
"""Users of the cache; of a thousand with a few claims each it takes about a megabyte."""

_AWAY = "the user directory cannot be reached"

Answer = TypeVar("Answer")


class _Ask(Protocol):
    async def __call__(self, question: Callable[[], Awaitable[Answer]]) -> Answer: ...


class _OwnFactors(msgspec.Struct, frozen=True):
    """The second factors that another system keeps, asked within the limits of all questions to it."""

    store: FactorStore
    ask: _Ask

    async def find_factors(self, sub: str) -> Factors:
        return await self.ask(partial(self.store.find_factors, sub))

    async def replace_factors(self, sub: str, factors: Factors, *, instead_of: str) -> bool:
        replacing = partial(self.store.replace_factors, sub, factors, instead_of=instead_of)
        return await self.ask(replacing)


class OutsideUsers:
    """A UserStore of another system, with a time-out, a limit, a circuit and metrics around each question."""

    def __init__(
        self,
        source: UserStore,
        settings: Users,
        last_seen: LastSeen,
        *,
        timed: Emit,
    ) -> None:
        self._source = source
        self._circuit = Circuit()
        self.failures = 0
        """Questions that got no usable answer since the start."""
        self.waiting = 0
        """Questions that have no answer yet."""
        self._timeout, self._cached_for, self._timed = settings.timeout, settings.cache, timed
        self._last_seen = last_seen
        self._turns = asyncio.Semaphore(settings.max_concurrent)
        self._known: BoundedCache[str, User] = BoundedCache(REMEMBERED)
        self._asking: set[asyncio.Task[object]] = set()

    async def by_subject(self, sub: str) -> User | None:
        """Return the user, as it was at most `users.cache` ago."""
        if not is_plain_text(sub, longest=MAX_NAME):
            return None
        known = self._known.get(sub) if self._cached_for else None
        if known is not None:
            return known
        user = await self._ask(partial(self._source.by_subject, sub))
        if user is not None and self._cached_for:
            self._known.put(sub, user, seconds=self._cached_for)
        return user

    def find_in_memory(self, sub: str) -> User | None:
        """Return None: the other system has to be asked."""
        return None

    async def find_token_user(self, sub: str) -> User | None:
        """Return the user; while the system is away, as it was seen at most `users.grace` ago."""
        try:
            user = await self.by_subject(sub)
        except TemporarilyUnavailable:  # also where too many questions wait for a system that hangs
            seen = await self._last_seen.find(sub)
            if seen is None:
                raise
            return seen
        await self._last_seen.note(sub, user)
        return user

    async def by_username(self, username: str) -> User | None:
        """Return the user as it is now."""
        if not is_plain_text(username, longest=MAX_NAME):
            return None
        return await self._ask(partial(self._source.by_username, username))

    async def by_email(self, email: str) -> User | None:
        """Return the only user with this verified address; None where the system cannot tell."""
        if not isinstance(self._source, FindsByEmail) or not is_plain_text(email, longest=MAX_NAME):
            return None
        return await self._ask(partial(self._source.by_email, email))

    @property
    def factor_store(self) -> FactorStore | None:
        """Return what keeps second factors with the users; None where the service keeps them."""
        source = self._source
        return _OwnFactors(source, self._ask) if isinstance(source, FactorStore) else None

    @property
    def circuit_open(self) -> bool:
        return self._circuit.is_open

    @property
    def verifies_passwords(self) -> bool:
        return isinstance(self._source, VerifiesPasswords)

    async def verify_password(self, username: str, password: str, user: User | None) -> bool:
        """Verify a password at the other system."""
        if not isinstance(self._source, VerifiesPasswords):
            return False
        return await self._ask(partial(self._source.verify_password, username, password, user))

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
        return await self._ask(partial(self._source.list_users, prefix, limit))

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
        """Close the connections; questions without an answer end."""
        for asking in self._asking:
            asking.cancel()
        if isinstance(self._source, Closes):
            await self._source.close()

    async def _ask(self, question: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer, or raise UsersUnavailable."""
        if not self._circuit.admits():
            raise UsersUnavailable(_AWAY)
        self.waiting += 1
        began = monotonic()
        try:
            answer = await self._wait_for(question)
        except (OSError, UsersUnavailable) as error:  # asyncio's TimeoutError is an OSError
            self._note_failure(error)
            raise UsersUnavailable(_AWAY) from error
        except (NotImplementedError, TemporarilyUnavailable):
            raise
        except Exception as error:
            self.failures += 1
            log.exception("users.source has failed")
            raise UsersUnavailable("the user directory gave no usable answer") from error
        finally:
            self.waiting -= 1
            self._timed(OthersAnswered(PURPOSE, monotonic() - began))
        if self._circuit.note_answer():
            log.warning("users.source answers again")
        return answer

    async def _wait_for(self, question: Callable[[], Awaitable[Answer]]) -> Answer:
        """Wait for the answer as long as it may take, also where a driver ignores that it is cancelled."""
        in_turn = asyncio.Event()
        asking = asyncio.ensure_future(self._ask_in_turn(question, in_turn))
        self._asking.add(asking)
        asking.add_done_callback(self._finish)
        try:
            await asyncio.wait((asking,), timeout=self._timeout)
        finally:
            if not asking.done():
                asking.cancel()
        if asking.done():
            return asking.result()
        if not in_turn.is_set():
            raise TemporarilyUnavailable("too many questions wait for the user directory")
        raise TimeoutError("no answer in time")

    async def _ask_in_turn(
        self, question: Callable[[], Awaitable[Answer]], in_turn: asyncio.Event
    ) -> Answer:
        async with self._turns:
            in_turn.set()
            return await question()

    def _finish(self, asking: asyncio.Task[object]) -> None:
        self._asking.discard(asking)
        if not asking.cancelled():
            asking.exception()  # marked as seen: the caller may have given up

    def _note_failure(self, error: Exception) -> None:
        self.failures += 1
        cause = error.__cause__ or error
        if self._circuit.note_failure():
            log.warning("users.source does not answer", cause=str(cause) or type(cause).__name__)
