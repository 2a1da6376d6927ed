"""Signing in with a user name and a password, on the login page and by the password grant."""

from __future__ import annotations

from dataclasses import dataclass

from service.identity.passwords import MAX_PASSWORD, Passwords, is_plain_text
from service.identity.throttle import Throttle
from service.model.events import Emit, LoginFailed, LoginFailure, LoginLocked, LoginSucceeded
from service.model.handle import digest
from service.model.user import User, UserStore
from service.model.usernames import MAX_USERNAME, folded

AMR = ("pwd",)
"""Password-based authentication (RFC 8176 §2)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LocalSignIn:
    """Tells who signs in here; whatever is wrong, the answer and its time are the same."""

    users: UserStore
    passwords: Passwords
    throttle: Throttle
    emit: Emit

    async def verify(self, username: str, password: str, *, address: str) -> User | None:
        """The user whose name and password these are, unless disabled or locked."""
        if not is_plain_text(username, longest=MAX_USERNAME):
            self.emit(LoginFailed(username="", address=address, reason="malformed"))
            return None
        async with self.passwords.turn():  # first, so that a burst cannot outrun the counters
            locked = await self.throttle.is_locked(username, address)
            user = await self.users.by_username(username)
            failure = await self._failure(user, password, locked=locked)
            if user is None or failure is not None:
                await self._refuse(username, user, failure or "unknown", address=address)
                return None
            await self.throttle.clear(username, address)
        self.emit(LoginSucceeded(subject=user.sub, username=username, address=address))
        return user

    async def _failure(
        self, user: User | None, password: str, *, locked: bool
    ) -> LoginFailure | None:
        """Why it fails, for the audit log alone; a password is hashed in every case."""
        eligible = user if user is not None and user.enabled and not locked else None
        well_formed = is_plain_text(password, longest=MAX_PASSWORD)
        verifies = await self.passwords.verifies(
            password if well_formed else "", eligible.password if eligible else None
        )
        if locked:
            return "locked"
        if user is None:
            return "unknown"
        if not user.enabled:
            return "disabled"
        return None if verifies and well_formed else "wrong_password"

    async def _refuse(
        self, username: str, user: User | None, reason: LoginFailure, *, address: str
    ) -> None:
        shown = _shown(username, user)
        self.emit(LoginFailed(username=shown, address=address, reason=reason))
        if reason == "locked":  # is not counted: else one place could lock an account everywhere
            return
        if await self.throttle.count_failure(username, address):
            self.emit(LoginLocked(username=shown, address=address))


def _shown(username: str, user: User | None) -> str:
    """A name for the audit log; one that nobody has may be a password typed in the wrong field."""
    return username if user is not None else f"sha256:{digest(folded(username))}"
