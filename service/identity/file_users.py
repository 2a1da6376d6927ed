"""Who can sign in, where the configuration file lists them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from service.model.registry import LiveRegistry
from service.model.user import User, fold_username


class FileUsers:
    """The users of the registry in force; looked up in maps that are made once per registry."""

    def __init__(self, registry: LiveRegistry) -> None:
        """Take the registry whose users can sign in."""
        self._registry = registry
        self._directory = Directory(registry.current.users)

    async def by_subject(self, sub: str) -> User | None:
        """The user whose subject identifier this is."""
        return self._current().by_subject.get(sub)

    async def by_username(self, username: str) -> User | None:
        """The user who signs in by this name, compared in NFKC case-folded form."""
        return self._current().by_username.get(fold_username(username))

    def _current(self) -> Directory:
        users = self._registry.current.users
        if self._directory.users is not users:
            self._directory = Directory(users)
        return self._directory


@dataclass(frozen=True, slots=True)
class Directory:
    """One registry's users by subject and by folded name."""

    users: tuple[User, ...]
    by_subject: Mapping[str, User] = field(init=False, repr=False)
    by_username: Mapping[str, User] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Make the maps."""
        object.__setattr__(self, "by_subject", {user.sub: user for user in self.users})
        object.__setattr__(
            self, "by_username", {fold_username(user.username): user for user in self.users}
        )
