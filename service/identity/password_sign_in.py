"""Signs users in with a user name and a password, on the login page and by the password grant."""

from __future__ import annotations

import asyncio
from time import monotonic

import msgspec

from service.events.event import Emit
from service.events.users import LoginFailed, LoginLocked, LoginSucceeded, PasswordHashReplaced
from service.identity.accepted_users import EVERYBODY, AcceptedUsers
from service.identity.hashing import hash_password
from service.identity.passwords import (
    FairTurns,
    Passwords,
    usable_hash,
)
from service.identity.refusal_costs import RefusalCosts
from service.identity.throttle import Throttle
from service.identity.users import Directory
from service.model.handle import digest
from service.model.password_hash import is_outdated
from service.model.user import (
    MAX_PASSWORD,
    MAX_USERNAME,
    LoginFailure,
    PasswordExpired,
    PasswordRefused,
    User,
    UsersUnavailable,
    fold_username,
)
from service.protocol.typed_text import is_plain_text, trim_name
from service.store.rate_limit import site_of

AMR = ("pwd",)
"""Password-based authentication (RFC 8176 §2)."""


class PasswordSignIn(msgspec.Struct, frozen=True, kw_only=True):
    """Verifies user name and password; whatever is wrong, the answer and its time are the same."""

    users: Directory
    passwords: Passwords
    costs: RefusalCosts
    turns: FairTurns
    throttle: Throttle
    emit: Emit

    async def verify(
        self,
        username: str,
        password: str,
        *,
        address: str,
        accepted: AcceptedUsers = EVERYBODY,
    ) -> User | None:
        """Return the user with this name and password, unless disabled, locked, or not accepted.

        PasswordExpired if the right password has to be changed first.
        """
        username = trim_name(username)
        if not is_plain_text(username, longest=MAX_USERNAME):
            self.emit(LoginFailed(username="", address=address, reason="malformed"))
            return None
        here = site_of(address)
        async with self.turns.place(here):
            async with self.turns.turn(here):  # first, so that a burst cannot outrun the counters
                began = monotonic()
                user = await self.users.by_username(username)
                # A user with several names has no more attempts than one with one.
                account = username if user is None else user.username
                failures, (cost,) = await self.throttle.find(account, address, self.costs.reading)
                await self.costs.learn(cost)
                if not self.users.verifies_passwords:
                    began += await self.passwords.measure(monotonic() - began)
                failure = _find_failure(user, locked=failures.are_too_many, accepted=accepted)
                given = password if is_plain_text(password, longest=MAX_PASSWORD) else ""
                # A password that nobody can have takes as long as that of an unknown user.
                candidate = user if failure is None and given else None
                hashes = not failures.are_too_many or not self.passwords.refusal_times
                refusal = await self._judge(username, given, candidate) if hashes else None
                if candidate is not None and hashes and refusal is None:
                    await self._learn(monotonic() - began)
                    await self.throttle.clear(failures)
                    await self._replace_outdated_hash(candidate, password)
                    self.emit(
                        LoginSucceeded(subject=candidate.sub, username=username, address=address)
                    )
                    return candidate
                reason = failure or refusal or "wrong_password"
                await self._refuse(username, user, reason, address=address)
            full_cost = hashes and self._has_full_cost(candidate)
            took = monotonic() - began
            await self.passwords.even_out(took, full_cost=full_cost)
            await self.costs.share()
        return None

    async def _judge(self, username: str, password: str, user: User | None) -> LoginFailure | None:
        """Return what is wrong with the password; it takes as long without a user."""
        try:
            if self.users.verifies_passwords:
                is_right = await self.users.verify_password(username, password, user)
            else:
                is_right = await self.passwords.verifies(password, user.password if user else None)
        except PasswordRefused as refused:
            return refused.reason
        if is_right:
            return None
        return "wrong_password"

    async def _replace_outdated_hash(self, user: User, password: str) -> None:
        """Write a hash of today's format and cost, where there is an older one that can be written."""
        old = user.password
        known = usable_hash(old) if self.users.can_replace_passwords else None
        if old is None or known is None or not is_outdated(known):
            return
        new = await asyncio.to_thread(hash_password, password)
        try:
            replaced = await self.users.replace_password(user.sub, old=old, new=new)
        except UsersUnavailable:
            return  # it will be tried at the next sign-in
        if replaced:
            self.emit(PasswordHashReplaced(subject=user.sub, scheme=known.scheme))

    def _has_full_cost(self, user: User | None) -> bool:
        """Return whether the refusal took as long as refusals may take."""
        if self.users.verifies_passwords:
            return user is not None  # what verifies passwords may know sooner that there is no user
        return self.passwords.has_full_cost(user.password if user else None)

    async def _learn(self, took: float) -> None:
        """Remember how long a right password took where a wrong one takes as long, before anybody sends one."""
        if self.users.verifies_passwords:
            await self.passwords.even_out(took, full_cost=True)
        await self.costs.share()

    async def _refuse(
        self, username: str, user: User | None, reason: LoginFailure, *, address: str
    ) -> None:
        # A name that nobody has may be a password that was typed in the wrong field.
        shown = username if user is not None else f"sha256:{digest(fold_username(username))}"
        sub = user.sub if user is not None else None
        self.emit(LoginFailed(username=shown, subject=sub, address=address, reason=reason))
        if reason == "locked":  # is not counted: else one place could lock an account everywhere
            return
        if reason == "password_expired":  # nor is the right password, which is no guess
            raise PasswordExpired
        account = username if user is None else user.username
        if await self.throttle.count_failure(account, address):
            self.emit(LoginLocked(username=shown, subject=sub, address=address))


def _find_failure(
    user: User | None, *, locked: bool, accepted: AcceptedUsers
) -> LoginFailure | None:
    """Return why no password would do; only the audit log tells it."""
    if locked:
        return "locked"
    if user is None:
        return "unknown"
    if not user.enabled:
        return "disabled"
    return accepted.find_failure(user)
