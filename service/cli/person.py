"""The person that a command is about."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

import click
import msgspec

from service.cli.settings import pass_settings
from service.identity.users import Directory
from service.model.factors import Factors
from service.model.user import User
from service.wiring.shared import Shared


class Person(msgspec.Struct, frozen=True, kw_only=True):
    """The one person that a name, --subject or --username stands for."""

    subject: str | None
    username: str | None

    async def find(self, users: Directory) -> User:
        """Return the user, or end the command."""
        found = await (
            users.by_subject(self.subject)
            if self.subject is not None
            else users.by_username(str(self.username))
        )
        if found is None:
            raise click.ClickException("no user of users.source has this name or subject")
        return found

    async def find_subject(self, users: Directory) -> str:
        """Return the subject, which may be that of a person who signs in at an identity provider."""
        return self.subject if self.subject is not None else (await self.find(users)).sub


def pass_person(command: Callable[..., None]) -> Callable[..., None]:
    """Let a command name a person: by the user name, --username or --subject, of which exactly one has to be given."""

    @click.argument("name", required=False)
    @click.option("--subject", help="The user's subject identifier (sub).")
    @click.option("--username", help="The name that the user signs in with.")
    @pass_settings
    @wraps(command)
    def run(name: str | None, subject: str | None, username: str | None, **others: Any) -> None:
        if sum(given is not None for given in (name, subject, username)) != 1:
            raise click.UsageError("name the user, or give --subject")
        command(person=Person(subject=subject, username=username or name), **others)

    return run


async def refuse_stranger(shared: Shared, subject: str) -> None:
    """End the command if neither users.source nor the store knows the subject."""
    is_known = (
        await shared.users.by_subject(subject) is not None
        or await shared.sessions.find_all_of(subject)
        or await shared.authorizations.find_all_of(subject)
        or await shared.consents.find_all_of(subject)
        or await shared.factors.find(subject) != Factors()
    )
    if not is_known:
        message = "nobody has this subject: neither users.source nor the store knows it"
        named = await shared.users.by_username(subject)
        hint = "" if named is None else f"; did you mean {named.sub}, the subject of this user?"
        raise click.ClickException(message + hint)
