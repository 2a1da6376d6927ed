"""Finds users and their claims, in the configuration file or wherever they come from."""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from typing import Protocol

import msgspec

from service.identity.sign_in import SignIn
from service.model.authorization import Authorization
from service.model.factors import FactorStore
from service.model.registry import LiveRegistry
from service.model.session import Session
from service.model.user import (
    Closes,
    DisablesUsers,
    FindsByEmail,
    FindsByIdentity,
    Identity,
    ListsUsers,
    ReplacesPasswords,
    Several,
    TokenUsers,
    User,
    VerifiesPasswords,
    fold_username,
    is_in_store,
)
from service.protocol.claims import find_text
from service.tokens.permitted import find_user_claims


class Directory(
    TokenUsers,
    FindsByEmail,
    FindsByIdentity,
    VerifiesPasswords,
    ReplacesPasswords,
    ListsUsers,
    DisablesUsers,
    Closes,
    Protocol,
):
    """The users as the service asks for them, wherever they come from."""

    @property
    def verifies_passwords(self) -> bool:
        """Whether `verify_password` is to be asked; else `User.password` is the hash to compare with."""
        ...

    @property
    def factor_store(self) -> FactorStore | None:
        """The store of the users' second factors, if they are kept with the users."""
        ...

    @property
    def email_gap(self) -> str | None:
        """The thing that the source lacks to find a user by e-mail address; None if it can be asked."""
        ...

    @property
    def circuit_open(self) -> bool:
        """Whether the circuit breaker is open: requests fail fast, because the system has not answered lately."""
        ...

    @property
    def waiting(self) -> int:
        """Requests that have no answer yet."""
        ...

    @property
    def failures(self) -> int:
        """Requests that got no usable answer since the start."""
        ...


class FileUsers:
    """The users of the registry in force, in maps that are made once per registry."""

    def __init__(self, registry: LiveRegistry, *, sign_in_by_email: bool = False) -> None:
        self._registry = registry
        self._sign_in_by_email = sign_in_by_email
        self._users: tuple[User, ...] = ()
        self._by_subject: Mapping[str, User] = {}
        self._by_username: Mapping[str, User] = {}
        self._by_address: Mapping[str, User] = {}
        self._by_email: Mapping[str, User | Several] = {}
        self._by_identity: Mapping[Identity, User] = {}

    def find_in_memory(self, sub: str) -> User | None:
        if self._registry.current.users is not self._users:  # nearly never, and each token asks
            self._refresh()
        return self._by_subject.get(sub)

    async def by_subject(self, sub: str) -> User | None:
        return self.find_in_memory(sub)

    find_token_user = by_subject

    async def by_username(self, username: str) -> User | None:
        """Return the user with this name, or with this address if one may sign in by it, compared in NFKC case-folded form."""
        self._refresh()
        name = fold_username(username)
        return self._by_username.get(name) or self._by_address.get(name)

    async def by_email(self, email: str) -> User | Several | None:
        """Return the only user with this verified email address."""
        self._refresh()
        return self._by_email.get(fold_username(email))

    async def by_identity(self, provider: str, subject: str) -> User | None:
        """Return the user whose entry lists this."""
        self._refresh()
        return self._by_identity.get(Identity(provider, subject))

    verifies_passwords = can_replace_passwords = circuit_open = False
    waiting = failures = 0
    factor_store = email_gap = None

    async def verify_password(self, username: str, password: str, user: User | None) -> bool:
        """Return False: each user has a hash."""
        return False

    async def replace_password(self, sub: str, *, old: str, new: str) -> bool:
        """Return False: the file is the operator's."""
        return False

    async def set_enabled(self, sub: str, *, enabled: bool) -> bool:
        """Raise NotImplementedError: the file is the operator's."""
        raise NotImplementedError("write it into users.list[].enabled of the configuration file")

    async def list_users(self, prefix: str, limit: int) -> Sequence[User]:
        """Return the first users by name whose folded name begins with this."""
        self._refresh()
        names = sorted(name for name in self._by_username if name.startswith(prefix))
        return [self._by_username[name] for name in names[:limit]]

    async def close(self) -> None:
        """Close nothing: the users are in the configuration."""

    def _refresh(self) -> None:
        users = self._registry.current.users
        if users is not self._users:
            self._users = users
            self._by_subject = {user.sub: user for user in users}
            self._by_username = {fold_username(user.username): user for user in users}
            self._by_address = _find_by_address(users) if self._sign_in_by_email else {}
            self._by_email = _by_verified_email(users)
            self._by_identity = {each: user for user in users for each in user.identities}


def _find_by_address(users: Iterable[User]) -> Mapping[str, User]:
    """Return users by their address, verified or not, if only one has it."""
    found: dict[str, User | None] = {}
    for user in users:
        email = user.claims.get("email")
        if isinstance(email, str):
            address = fold_username(email)
            found[address] = None if address in found else user
    return {address: user for address, user in found.items() if user is not None}


def _by_verified_email(users: Iterable[User]) -> Mapping[str, User | Several]:
    """Return users by their address."""
    found: dict[str, User | Several] = {}
    for user in users:
        email = user.claims.get("email")
        if isinstance(email, str) and user.claims.get("email_verified") is True:
            address = fold_username(email)
            found[address] = "several" if address in found else user
    return found


class Subjects(msgspec.Struct, frozen=True, kw_only=True):
    """Asks the user store about local users; others have the claims that their provider sent."""

    users: TokenUsers
    registry: LiveRegistry

    def find_claims(
        self, person: Authorization | Session
    ) -> Awaitable[Mapping[str, object] | None]:
        return find_user_claims(self.users, self.registry, person)

    async def find_username(self, session: Session | SignIn) -> str | None:
        if is_in_store(session.idp, session.user_claims):
            user = await self.users.by_subject(session.subject)
            return user.username if user is not None else None
        return find_text(session.user_claims, "preferred_username", "email")
