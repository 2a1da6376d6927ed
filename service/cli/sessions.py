"""`sessions` and `grants`: list and end where users are signed in, and what clients may do for them."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from functools import wraps
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeVar

import click
import msgspec

from service.cli.person import refuse_stranger
from service.cli.settings import FILE, pass_settings
from service.cli.shared_store import on_store
from service.cli.table import format_option, print_rows
from service.clients.directory import Clients
from service.config.configuration import Configuration
from service.config.problem import nearest
from service.model.authorization import Authorization
from service.model.client_metadata import selector_of
from service.model.session import Session
from service.protocol.scope import format_scope
from service.takeover.grants import GrantLoading, LoadedGrants
from service.takeover.reading import Unreadable
from service.wiring.shared import Shared

T = TypeVar("T")
NOT_ALL = 4
"""The exit code where not all was taken over."""

_GRANT_COLUMNS = attrgetter("id", "client_id", "subject", "session_id", "created_at")


class Selection(msgspec.Struct, frozen=True, kw_only=True):
    """Selects the records that fit all options that are given."""

    subject: str | None
    client: str | None
    session: str | None

    def require_one(self) -> None:
        """Refuse to end the sessions of all users by a short command."""
        if self.subject is None and self.client is None and self.session is None:
            raise click.UsageError("name what to end: --subject, --client or --session")

    async def authorizations(self, shared: Shared) -> list[Authorization]:
        """Return the live authorizations, the latest first."""
        every, subject = shared.authorizations, self.subject
        found = (
            await _collect(every.walk_all())
            if subject is None
            else await every.find_all_of(subject)
        )
        chosen = [
            one
            for one in found
            if self.client in (None, one.client_id) and self.session in (None, one.session_id)
        ]
        return sorted(chosen, key=lambda one: one.created_at, reverse=True)

    async def sessions(self, shared: Shared) -> list[Session]:
        """Return the live sessions, the latest first; with a client, those from which it has tokens."""
        every, subject = shared.sessions, self.subject
        found = (
            await _collect(every.walk_all())
            if subject is None
            else await every.find_all_of(subject)
        )
        chosen = [one for one in found if self.session in (None, one.id)]
        if self.client is not None:
            granted = {one.session_id for one in await self.authorizations(shared)}
            chosen = [one for one in chosen if one.id in granted]
        return sorted(chosen, key=lambda one: one.auth_time, reverse=True)

    async def refuse_unknown(self, shared: Shared) -> None:
        """End a command that found nothing to end if nobody has the subject, or the client_id."""
        if self.subject is not None:
            await refuse_stranger(shared, self.subject)
        if self.client is not None and not await _is_client(shared, self.client):
            hint = nearest(self.client, shared.registry.current.clients)
            message = f"no client has the client_id {self.client}"
            raise click.ClickException(f"{message}; {hint}" if hint else message)


async def _is_client(shared: Shared, client_id: str) -> bool:
    """Return whether a client is configured or registered; one with a metadata document may be anywhere."""
    configured = Clients(registry=shared.registry, registered=None, documents=None)
    if "://" in client_id or await configured.find(client_id) is not None:
        return True
    selector = selector_of(client_id)
    if selector is None:
        return False
    return await shared.kv.get(shared.stores.registered_clients.key(selector)) is not None


async def _collect(every: AsyncIterator[list[T]]) -> list[T]:
    return [one async for some in every for one in some]


def pass_selection(command: Callable[..., None]) -> Callable[..., None]:
    """Add --subject, --client and --session to a command, and pass them as `chosen`."""

    @click.option("--subject", help="The user's subject identifier (sub).")
    @click.option("--client", help="The client's client_id.")
    @click.option("--session", help="The session's id (sid).")
    @pass_settings
    @wraps(command)
    def run(subject: str | None, client: str | None, session: str | None, **others: Any) -> None:
        command(chosen=Selection(subject=subject, client=client, session=session), **others)

    return run


@click.group("sessions")
def sessions() -> None:
    """List and end the sessions of users.

    \b
    Example:
      token-service sessions list --subject 818727
    """


@sessions.command("list")
@pass_selection
@format_option
def list_sessions(settings: Configuration, chosen: Selection, output: str) -> None:
    """Print the sessions that fit all options.

    Without --subject, --client or --session, all sessions are printed.

    \b
    Example:
      token-service sessions list --client web
    """
    found = on_store(settings, chosen.sessions)
    rows = map(attrgetter("id", "subject", "idp", "auth_time", "ends_at", "user_agent"), found)
    print_rows(("session", "subject", "idp", "signed_in", "ends_at", "browser"), rows, output)


@sessions.command("end")
@pass_selection
def end(settings: Configuration, chosen: Selection) -> None:
    """End the sessions that fit all options.

    Tokens that clients got in these sessions end too, except those with offline access. A subject or a client that
    nobody knows is an error.

    \b
    Example:
      token-service sessions end --subject 818727
    """
    chosen.require_one()

    async def end_sessions(shared: Shared) -> int:
        found = await chosen.sessions(shared)
        await shared.sessions.end(*found)
        if not found:
            await chosen.refuse_unknown(shared)
        return len(found)

    click.echo(f"sessions ended: {on_store(settings, end_sessions)}")


@click.group("grants")
def grants() -> None:
    """List and revoke what clients may do.

    A grant is what a user has allowed a client; it is listed while tokens of it are valid. A token
    that a client got for itself, without a user, belongs to no grant and ends by itself.

    \b
    Example:
      token-service grants list --client web
    """


@grants.command("list")
@pass_selection
@format_option
def list_grants(settings: Configuration, chosen: Selection, output: str) -> None:
    """Print the grants that fit all options.

    Without --subject, --client or --session, all grants are printed.

    \b
    Example:
      token-service grants list --subject 818727
    """
    found = on_store(settings, chosen.authorizations)
    rows = [(*_GRANT_COLUMNS(one), format_scope(one.scope)) for one in found]
    print_rows(("grant", "client", "subject", "session", "granted", "scope"), rows, output)


@grants.command("revoke")
@pass_selection
def revoke(settings: Configuration, chosen: Selection) -> None:
    """Revoke the grants that fit all options. Their tokens are inactive at once.

    The users' consents to the same clients are withdrawn too, unless --session names one sign-in. A subject or a client
    that nobody knows is an error.

    \b
    Example:
      token-service grants revoke --subject 818727 --client web
    """
    chosen.require_one()

    async def revoke_grants(shared: Shared) -> int:
        found, withdrawn = await chosen.authorizations(shared), 0
        if chosen.session is None:  # first, so that no new grant relies on a consent
            for subject in {chosen.subject, *[one.subject for one in found]} - {None}:
                withdrawn += await _withdraw(shared, str(subject), chosen.client)
        await shared.authorizations.end(*found)
        if not found and not withdrawn:
            await chosen.refuse_unknown(shared)
        return len(found)

    click.echo(f"grants revoked: {on_store(settings, revoke_grants)}")


@grants.command("load")
@click.argument("path", metavar="FILE", type=FILE)
@pass_settings
def load_grants(settings: Configuration, path: Path) -> None:
    """Load the refresh tokens of IdentityServer, after that server has stopped.

    FILE has the rows of its table PersistedGrants, as a JSON array (docs/operations/refresh-tokens.md). Loading it again changes
    nothing. Exit code 4: tokens that could be used there were not taken; each reason is printed.

    \b
    Example:
      token-service grants load PersistedGrants.json
    """
    result = LoadedGrants()

    async def load(shared: Shared) -> None:
        current = shared.registry.current
        loading = GrantLoading(stores=shared.stores, registry=current, emit=shared.emit)
        await loading.load(path, result)

    try:
        on_store(settings, load)
    except Unreadable as error:
        raise click.ClickException(f"{error}; loaded until there: {result.taken}") from error
    click.echo(f"taken: {result.taken}; known: {result.known}; ended: {result.ended}")
    for reason, count in result.left_out.items():
        click.echo(f"not taken: {count}, the first at {result.places[reason]}: it {reason}")
    if result.left_out:
        raise SystemExit(NOT_ALL)


async def _withdraw(shared: Shared, subject: str, client_id: str | None) -> int:
    """Withdraw the consents of a user; return how many."""
    if client_id is None:
        return await shared.consents.withdraw_all(subject)
    consents = await shared.consents.find_all_of(subject)
    chosen = [each for each in consents if each.client_id == client_id]
    for consent in chosen:
        await shared.consents.withdraw(subject, consent.client_id)
    return len(chosen)
