"""Finds users and their claims: in the configuration file, or in the operator's own user store."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Protocol, cast, runtime_checkable

from service.config import plugins
from service.config.problem import CannotServe, Finding
from service.model.authorization import Authorization
from service.model.registry import LiveRegistry
from service.model.session import Session
from service.model.user import LOCAL, User, UserStore, fold_username
from service.tokens.permitted import find_user_claims

_SOURCE = ("users", "source")


def open_users(registry: LiveRegistry) -> UserStore:
    """Return the file's users, or the operator's own store, made once without arguments; CannotServe if that fails."""
    source = registry.current.user_store
    if source is None:
        return FileUsers(registry)
    try:
        make = cast("Callable[[], UserStore]", plugins.load_plugin(source))
        store = make()
        plugins.require_user_store(store)
    except plugins.PluginError as error:
        raise CannotServe(Finding(_SOURCE, f"{source} {error}", error.hint)) from error
    except (Exception, SystemExit) as error:  # the operator's code may raise anything
        message = f"{source} cannot be made: {plugins.describe_exception(error)}"
        raise CannotServe(Finding(_SOURCE, message)) from error
    return store


@runtime_checkable
class FindsByEmail(Protocol):
    """A UserStore that can also find users by email address."""

    async def by_email(self, email: str) -> User | None:
        """Return the only user with this verified address, in upper or lower case; None if there are several."""
        ...


class FileUsers:
    """The users of the registry in force, in maps that are made once per registry."""

    def __init__(self, registry: LiveRegistry) -> None:
        self._registry = registry
        self._users: tuple[User, ...] = ()
        self._by_subject: Mapping[str, User] = {}
        self._by_username: Mapping[str, User] = {}
        self._by_email: Mapping[str, User | None] = {}

    async def by_subject(self, sub: str) -> User | None:
        self._refresh()
        return self._by_subject.get(sub)

    async def by_username(self, username: str) -> User | None:
        """Return the user with this name, compared in NFKC case-folded form."""
        self._refresh()
        return self._by_username.get(fold_username(username))

    async def by_email(self, email: str) -> User | None:
        """Return the only user with this verified email address."""
        self._refresh()
        return self._by_email.get(email.casefold())

    def _refresh(self) -> None:
        users = self._registry.current.users
        if users is not self._users:
            self._users = users
            self._by_subject = {user.sub: user for user in users}
            self._by_username = {fold_username(user.username): user for user in users}
            self._by_email = _by_verified_email(users)


def _by_verified_email(users: Iterable[User]) -> Mapping[str, User | None]:
    """Return users by their address; None for one that several share."""
    found: dict[str, User | None] = {}
    for user in users:
        email = user.claims.get("email")
        if isinstance(email, str) and user.claims.get("email_verified") is True:
            address = email.casefold()
            found[address] = None if address in found else user
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Subjects:
    """Asks the user store about local users; others have the claims that their provider sent."""

    users: UserStore
    registry: LiveRegistry

    async def find_claims(self, person: Authorization | Session) -> Mapping[str, object] | None:
        return await find_user_claims(self.users, self.registry, person)

    async def find_username(self, session: Session) -> str | None:
        if session.idp == LOCAL:
            user = await self.users.by_subject(session.subject)
            return user.username if user is not None else None
        name = session.user_claims.get("preferred_username") or session.user_claims.get("email")
        return str(name) if name else None
