"""Signs users in with a user name and a password, on the login page and by the password grant."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from time import monotonic

import msgspec

from service.config.schema.server import Limits
from service.events.event import Emit
from service.events.users import LoginFailed, LoginLocked, LoginSucceeded, PasswordHashReplaced
from service.identity.accepted_users import EVERYBODY, AcceptedUsers
from service.identity.hashing import hash_password
from service.identity.passwords import (
    MAX_PASSWORD,
    FairTurns,
    Passwords,
    is_plain_text,
    usable_hash,
)
from service.identity.refusal_costs import RefusalCosts
from service.identity.users import Directory
from service.model.handle import digest
from service.model.password_hash import is_outdated
from service.model.user import (
    MAX_USERNAME,
    LoginFailure,
    PasswordExpired,
    PasswordRefused,
    User,
    UsersUnavailable,
    fold_username,
)
from service.protocol.typed_text import trim_name
from service.store import verbs
from service.store.keyvalue import KeyValue
from service.store.rate_limit import networks_of, site_of
from service.store.verbs import Read

AMR = ("pwd",)
"""Password-based authentication (RFC 8176 §2)."""

WIDER = 10
"""How many times more failures an account may have from anywhere, and an address on all accounts."""


class Throttle(msgspec.Struct, frozen=True, kw_only=True):
    """Counts failed sign-ins per account and address, per account, and per address."""

    kv: KeyValue
    prefix: str
    limits: Limits
    name: str = "lf"
    """The kind of its counters: failures of passwords."""

    async def is_locked(self, username: str, address: str) -> bool:
        counters = self._limits_by_key(username, address)
        counts = await self.kv.read(*[Read(key, int) for key in counters])
        return any(
            count is not None and count >= limit
            for count, limit in zip(counts, counters.values(), strict=True)
        )

    async def count_failure(self, username: str, address: str) -> bool:
        """Count a failure, and return whether it locks. Not to be called while it is locked."""
        counters = self._limits_by_key(username, address)
        counts: list[int] = await self.kv.write(
            *[verbs.count(key, self.limits.login_window) for key in counters]
        )
        # Or more: a count whose answer was lost is repeated, and skips a number.
        full = [
            verbs.extend(key, self.limits.lockout)
            for (key, limit), count in zip(counters.items(), counts, strict=True)
            if count >= limit
        ]
        await self.kv.write(*full)
        return bool(full)

    async def take_attempt(self, username: str, address: str) -> int:
        """Count an attempt before it is judged; return how many more may fail, less than 0 if it must not be judged.

        The pairs come first: attempts from a place that is locked do not lock the account elsewhere.
        """
        pairs, others = (
            self._limits_of_pairs(username, address),
            self._wider_limits(username, address),
        )
        left = self.limits.login_failures
        for counters in (pairs.items(), others.items()):
            keys = [key for key, _ in counters]
            counts: list[int] = await self.kv.write(
                *[verbs.count(key, self.limits.login_window) for key in keys]
            )
            rest = [limit - count for (_, limit), count in zip(counters, counts, strict=True)]
            full = [key for key, some in zip(keys, rest, strict=True) if some == 0]
            await self.kv.write(*[verbs.extend(key, self.limits.lockout) for key in full])
            left = min(left, *rest)
            if left < 0:
                return left
        return left

    async def give_back(self, username: str, address: str) -> None:
        """Count an attempt no longer that was right, and forget the failures of this account at this address."""
        pairs, others = (
            self._limits_of_pairs(username, address),
            self._wider_limits(username, address),
        )
        await self.kv.write(*map(verbs.drop, pairs), *map(verbs.uncount, others))

    async def clear(self, username: str, address: str) -> None:
        """Forget the failures of this account at this address: its owner signed in."""
        await self.kv.write(*map(verbs.drop, self._limits_of_pairs(username, address)))

    def _limits_by_key(self, username: str, address: str) -> Mapping[str, int]:
        return {
            **self._limits_of_pairs(username, address),
            **self._wider_limits(username, address),
        }

    def _limits_of_pairs(self, username: str, address: str) -> Mapping[str, int]:
        """Return the limits of the account at this network, and at the site around it: one site is not many places."""
        account, few = fold_username(username), self.limits.login_failures
        places = networks_of(address).items()
        return {self._key("pair", account, place): few * share for place, share in places}

    def _wider_limits(self, username: str, address: str) -> Mapping[str, int]:
        """Return the limits of the account from everywhere, and of the network and site for all accounts."""
        account, many = fold_username(username), self.limits.login_failures * WIDER
        places = networks_of(address).items()
        return {
            self._key("account", account): many,
            **{self._key("address", place): many * share for place, share in places},
        }

    def _key(self, *parts: str) -> str:
        return f"{self.prefix}:{{{digest(chr(0).join(parts))}}}:{self.name}"


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
                locked = await self.throttle.is_locked(account, address)
                await self.costs.learn()
                if not self.users.verifies_passwords:
                    began += await self.passwords.measure(monotonic() - began)
                failure = _find_failure(user, locked=locked, accepted=accepted)
                given = password if is_plain_text(password, longest=MAX_PASSWORD) else ""
                # A password that nobody can have takes as long as that of an unknown user.
                candidate = user if failure is None and given else None
                hashes = not locked or not self.passwords.refusal_times
                refusal = await self._judge(username, given, candidate) if hashes else None
                if candidate is not None and hashes and refusal is None:
                    await self._learn(monotonic() - began)
                    await self.throttle.clear(account, address)
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
