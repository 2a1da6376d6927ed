"""A UserStore of an operator, which a test can let hang, fail or be away."""

from __future__ import annotations

import asyncio
from typing import ClassVar

from msgspec.structs import replace

from service.model.user import User, fold_username
from tests.driving.registry import password_of


class SwitchedUsers:
    """Knows alice and bob."""

    made: ClassVar[list[SwitchedUsers]] = []

    def __init__(self) -> None:
        self.made.append(self)
        self.users = [
            User(
                sub="818727",
                username="alice",
                password=password_of("alice"),
                claims={"name": "Alice"},
            ),
            User(sub="88421113", username="bob", password=password_of("bob")),
        ]
        self.trouble: Exception | None = None
        self.refused: str | None = None
        """A value that it does not take."""
        self.hangs = self.closed = False
        self.asked = 0
        """Requests so far."""
        self.asking = self.most_at_once = 0

    def disable(self, username: str) -> None:
        """Disable a user, as another system would."""
        self.users = [
            replace(user, enabled=user.username != username and user.enabled) for user in self.users
        ]

    async def by_subject(self, sub: str) -> User | None:
        if sub == self.refused:
            raise ValueError(f"cannot write {sub} in my letters")
        return await self._answer(lambda user: user.sub == sub)

    async def by_username(self, username: str) -> User | None:
        if username == self.refused:
            raise ValueError(f"cannot write {username} in my letters")
        return await self._answer(lambda user: user.username == fold_username(username))

    async def list_users(self, prefix: str, limit: int) -> list[User]:
        """Return all of them; never in trouble, because the tests count questions."""
        return self.users[:limit]

    async def close(self) -> None:
        self.closed = True

    async def _answer(self, fits: object) -> User | None:
        assert callable(fits)
        self.asked += 1
        self.asking += 1
        self.most_at_once = max(self.most_at_once, self.asking)
        try:
            if self.hangs:
                await asyncio.Event().wait()
            await asyncio.sleep(0)
        finally:
            self.asking -= 1
        if self.trouble is not None:
            raise self.trouble
        return next((user for user in self.users if fits(user)), None)
