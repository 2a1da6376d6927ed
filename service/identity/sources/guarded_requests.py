"""Limits requests to another system: a time-out, few at once, and a circuit breaker."""

from __future__ import annotations

import asyncio
import traceback
from collections.abc import Awaitable, Callable
from time import monotonic
from typing import Protocol, TypeVar

import structlog

from service.events.timings import EmitTiming, OthersAnswered
from service.model.user import PasswordRefused, UnusableAnswer, UsersUnavailable, ValueRefused
from service.protocol.errors import TemporarilyUnavailable

log = structlog.stdlib.get_logger(__name__)

PURPOSE = "users"
"""The label of these requests in the metrics of outgoing requests."""

TOLERATED = 3
"""Failures in a row until the circuit opens."""

PAUSE = 1.0
"""Seconds between two requests to an unavailable system."""

_AWAY = "the user directory cannot be reached"
_UNUSABLE = "the user directory gave no usable answer"

Answer = TypeVar("Answer")


class Ask(Protocol):
    async def __call__(self, request: Callable[[], Awaitable[Answer]]) -> Answer: ...


class _Refused(UsersUnavailable):
    """The system rejects the value of the request, or any value of such a request."""


class Circuit:
    """Circuit breaker: fails fast while a system is unavailable, except for one request each second, which finds out whether it is back."""

    def __init__(self) -> None:
        self._failed = 0
        self._next = 0.0

    @property
    def is_open(self) -> bool:
        return self._failed >= TOLERATED

    def admits(self) -> bool:
        """Return whether the system may be asked now."""
        now = monotonic()
        if self.is_open and now < self._next:
            return False
        self._next = now + PAUSE
        return True

    def note_answer(self) -> bool:
        """Count an answer; return whether it was the first one after the system was away."""
        was_open, self._failed = self.is_open, 0
        return was_open

    def note_failure(self) -> int:
        """Count a failure; return how many there were in a row. From `TOLERATED` on the system counts as away."""
        self._failed += 1
        return self._failed


class GuardedRequests:
    """Sends requests to one system."""

    def __init__(self, *, timeout: float, at_once: int, timed: EmitTiming) -> None:
        self.circuit = Circuit()
        self.failures = 0
        """Requests that got no usable answer since the start."""
        self.waiting = 0
        """Requests that have no answer yet."""
        self._timeout, self._timed = timeout, timed
        self._turns = asyncio.Semaphore(at_once)
        self._sending: set[asyncio.Task[object]] = set()

    def cancel(self) -> None:
        """End the requests without an answer."""
        for sending in self._sending:
            sending.cancel()

    async def ask_for_value(
        self,
        request: Callable[[], Awaitable[Answer]],
        plain: Callable[[], Awaitable[object]],
        *,
        otherwise: Answer,
    ) -> tuple[Answer, bool]:
        """Return the answer, and whether the system takes the value, which somebody has typed or a foreign token names.

        It does not if it answers a plain value, and refuses this one twice: a person's fault, and not the system's.
        """
        try:
            return await self.ask(request), True
        except _Refused:
            await self.ask(plain)
        try:
            return await self.ask(request), True
        except _Refused:
            return otherwise, False

    async def ask(self, request: Callable[[], Awaitable[Answer]]) -> Answer:
        """Return the answer, or raise UsersUnavailable. Only a system that does not answer moves the circuit."""
        if not self.circuit.admits():
            raise UsersUnavailable(_AWAY)
        self.waiting += 1
        began = monotonic()
        try:
            answer = await self._wait_for(request)
        except PasswordRefused:
            self._note_answer()
            raise
        except UnusableAnswer as error:
            raise self._note_refusal(error, UsersUnavailable) from error
        except (OSError, UsersUnavailable) as error:  # asyncio's TimeoutError is an OSError
            self._note_failure(error)
            raise UsersUnavailable(_AWAY) from error
        except (NotImplementedError, TemporarilyUnavailable):
            raise
        except ValueError as error:
            raise self._note_refusal(error, _Refused) from error
        except Exception as error:
            self.failures += 1
            log.exception("users.source has failed")
            raise UsersUnavailable(_UNUSABLE) from error
        finally:
            self.waiting -= 1
            self._timed(OthersAnswered(PURPOSE, monotonic() - began))
        self._note_answer()
        return answer

    def _note_answer(self) -> None:
        if self.circuit.note_answer():
            log.warning("users.source answers again")

    async def _wait_for(self, request: Callable[[], Awaitable[Answer]]) -> Answer:
        """Wait for the answer as long as it may take, also where a driver ignores that it is cancelled."""
        in_turn = asyncio.Event()
        sending = asyncio.ensure_future(self._send_in_turn(request, in_turn))
        self._sending.add(sending)
        sending.add_done_callback(self._finish)
        try:
            await asyncio.wait((sending,), timeout=self._timeout)
        finally:
            if not sending.done():
                sending.cancel()
        if sending.done():
            return sending.result()
        if not in_turn.is_set():
            raise TemporarilyUnavailable("too many requests wait for the user directory")
        raise TimeoutError("no answer in time")

    async def _send_in_turn(
        self, request: Callable[[], Awaitable[Answer]], in_turn: asyncio.Event
    ) -> Answer:
        async with self._turns:
            in_turn.set()
            return await request()

    def _finish(self, sending: asyncio.Task[object]) -> None:
        self._sending.discard(sending)
        if not sending.cancelled():
            sending.exception()  # marked as seen: the caller may have given up

    def _note_refusal(self, error: Exception, kind: type[UsersUnavailable]) -> UsersUnavailable:
        """Count an error as an answer, because it shows that the system is there; return the error for the caller."""
        self._note_answer()
        self.failures += 1
        log.warning("users.source gave no usable answer", cause=_describe(error))
        return kind(_UNUSABLE)

    def _note_failure(self, error: Exception) -> None:
        self.failures += 1
        failed, reason = self.circuit.note_failure(), error.__cause__ or error
        cause = str(reason) or type(reason).__name__
        if failed == 1:
            log.warning("users.source has not answered", cause=cause)
        elif failed == TOLERATED:
            log.warning("users.source does not answer", cause=cause)


def _describe(error: Exception) -> str:
    """Return what was wrong, for the log; of an error that may repeat the value only its kind and its place."""
    if isinstance(error, ValueRefused | UnusableAnswer):
        return str(error)
    at = traceback.extract_tb(error.__traceback__)[-1]
    return f"{type(error).__name__} in {at.filename}:{at.lineno}"
