"""`sessions`: who is signed in where, and ending it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import click

from service.cli.selection import Selection, selection_options
from service.cli.settings import file_option, load_settings
from service.cli.shared_store import flags_of, on_store, store_option
from service.cli.table import format_option, print_rows, written
from service.model.session import Session
from service.parts.people import build_records
from service.parts.shared import Shared


@click.group("sessions")
def sessions() -> None:
    """List and end the sessions of people who are signed in.

    \b
    Example:
      python -m service sessions list --subject 818727
    """


@sessions.command("list")
@selection_options
@file_option
@store_option
@format_option
def list_sessions(  # noqa: PLR0917 - click calls it by name
    subject: str | None,
    client: str | None,
    session: str | None,
    file: Path,
    store_url: str | None,
    output: str,
) -> None:
    """Print every session that all the options fit; without options, all there are.

    \b
    Example:
      python -m service sessions list --client web
    """
    chosen = Selection(subject=subject, client=client, session=session)
    _print(
        on_store(
            load_settings(file, flags_of(store_url)),
            lambda shared: chosen.sessions(build_records(shared)),
        ),
        output,
    )


@sessions.command("end")
@selection_options
@file_option
@store_option
def end(
    subject: str | None, client: str | None, session: str | None, file: Path, store_url: str | None
) -> None:
    """End the sessions that all the options fit, and their tokens, all but the offline ones.

    \b
    Example:
      python -m service sessions end --subject 818727
    """
    chosen = Selection(subject=subject, client=client, session=session)
    chosen.require_one()

    async def ended(shared: Shared) -> list[Session]:
        records = build_records(shared)
        found = await chosen.sessions(records)
        for one in found:
            await records.sessions.end(one)
        return found

    found = on_store(load_settings(file, flags_of(store_url)), ended)
    click.echo(f"sessions ended: {len(found)}")


def _print(found: Iterable[Session], output: str) -> None:
    names = ("session", "subject", "idp", "signed_in", "ends_at", "browser")
    rows = [
        (
            one.id,
            one.subject,
            one.idp,
            written(one.auth_time),
            written(one.ends_at),
            one.user_agent,
        )
        for one in found
    ]
    print_rows(names, rows, output)
