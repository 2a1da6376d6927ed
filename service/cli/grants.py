"""`grants`: what clients may do in people's names, and taking it back."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from service.cli.selection import Selection, selection_options
from service.cli.settings import file_option, load_settings
from service.cli.shared_store import flags_of, on_store, store_option
from service.cli.table import format_option, print_rows, written
from service.model.authorization import Authorization
from service.parts.people import UserRecords, build_records
from service.protocol.scope import format_scope


@click.group("grants")
def grants() -> None:
    """List and revoke the grants of which tokens are alive.

    A token that a client got for itself belongs to no grant and ends by itself.

    \b
    Example:
      python -m service grants list --client web
    """


@grants.command("list")
@selection_options
@file_option
@store_option
@format_option
def list_grants(  # noqa: PLR0917 - click calls it by name
    subject: str | None,
    client: str | None,
    session: str | None,
    file: Path,
    store_url: str | None,
    output: str,
) -> None:
    """Print every grant that all the options fit; without options, all there are.

    \b
    Example:
      python -m service grants list --subject 818727
    """
    chosen = Selection(subject=subject, client=client, session=session)
    _print(
        on_store(
            load_settings(file, flags_of(store_url)),
            lambda shared: chosen.authorizations(build_records(shared)),
        ),
        output,
    )


@grants.command("revoke")
@selection_options
@file_option
@store_option
def revoke(
    subject: str | None, client: str | None, session: str | None, file: Path, store_url: str | None
) -> None:
    """Revoke the grants that all the options fit: their tokens are inactive at once.

    The consents to the same clients are withdrawn too, unless --session names one sign-in.

    \b
    Example:
      python -m service grants revoke --subject 818727 --client web
    """
    chosen = Selection(subject=subject, client=client, session=session)
    chosen.require_one()
    found = on_store(
        load_settings(file, flags_of(store_url)),
        lambda shared: _revoked(build_records(shared), chosen),
    )
    click.echo(f"grants revoked: {len(found)}")


async def _revoked(records: UserRecords, chosen: Selection) -> list[Authorization]:
    found = await chosen.authorizations(records)
    if chosen.session is None:  # first, so that no new grant relies on a consent
        for subject in {chosen.subject, *[one.subject for one in found]}:
            await _withdraw(records, subject, chosen.client)
    for one in found:
        await records.authorizations.end(one)
    return found


async def _withdraw(records: UserRecords, subject: str | None, client_id: str | None) -> None:
    if subject is None:
        return
    for consent in await records.consents.of_subject(subject):
        if client_id in (None, consent.client_id):
            await records.consents.withdraw(subject, consent.client_id)


def _print(found: Iterable[Authorization], output: str) -> None:
    names = ("grant", "client", "subject", "session", "granted", "scope")
    rows = [
        (
            one.id,
            one.client_id,
            one.subject,
            one.session_id,
            written(one.created_at),
            format_scope(one.scope),
        )
        for one in found
    ]
    print_rows(names, rows, output)
