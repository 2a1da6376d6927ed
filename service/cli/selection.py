"""Which sessions or grants does an operator mean? `--subject`, `--client`, `--session`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import click

from service.model.authorization import Authorization
from service.model.session import Session
from service.parts.people import UserRecords

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """All of what is named has to fit; nothing named is everything."""

    subject: str | None
    client: str | None
    session: str | None

    def require_one(self) -> None:
        """Refuse to end everything of everybody by a short command."""
        if self.subject is None and self.client is None and self.session is None:
            raise click.UsageError("name what to end: --subject, --client or --session")

    async def authorizations(self, records: UserRecords) -> list[Authorization]:
        """The live authorizations that are meant, the latest first."""
        found = [
            one
            async for one in self._authorizations(records)
            if self.client in (None, one.client_id) and self.session in (None, one.session_id)
        ]
        return sorted(found, key=lambda one: one.created_at, reverse=True)

    async def sessions(self, records: UserRecords) -> list[Session]:
        """The live sessions that are meant, the latest first; a client's are those it has tokens from."""
        found = [
            one
            async for one in self._sessions(records)
            if self.subject in (None, one.subject) and self.session in (None, one.id)
        ]
        if self.client is not None:
            granted = {one.session_id for one in await self.authorizations(records)}
            found = [one for one in found if one.id in granted]
        return sorted(found, key=lambda one: one.auth_time, reverse=True)

    async def _authorizations(self, records: UserRecords) -> AsyncIterator[Authorization]:
        if self.subject is None:
            async for one in records.authorizations.every():
                yield one
            return
        for one in await records.authorizations.of_subject(self.subject):
            yield one

    async def _sessions(self, records: UserRecords) -> AsyncIterator[Session]:
        if self.subject is None:
            async for one in records.sessions.every():
                yield one
            return
        for one in await records.sessions.of_subject(self.subject):
            yield one


def selection_options(command: F) -> F:
    """The three options, each of which narrows."""
    for option in (
        click.option("--session", help="The sid of a session."),
        click.option("--client", help="A client_id."),
        click.option("--subject", help="The sub of a person."),
    ):
        command = option(command)
    return command
