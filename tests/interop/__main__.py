"""Runs clients that nobody here wrote against a service of this run's own: `python -m tests.interop [CLIENT …]`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click
from aiohttp import web

from tests.driving.chromium import headless_chromium
from tests.interop.client_keys import new_client_keys
from tests.interop.clients import Outcome, every_client, prepare, run
from tests.interop.errands import Errands
from tests.interop.listening import listening
from tests.interop.mutual_tls import asking_for_certificates, new_certificates
from tests.interop.service import free_origins, serving

NAMES = (
    *("ISSUER", "ERRANDS", "SINGLE_PAGE"),
    *("BACK_CHANNEL_PARTY", "FRONT_CHANNEL_PARTY", "MCP_SERVER", "MUTUAL_TLS", "PINGED", "WEBHOOK"),
)
"""Who has an origin; see addresses.py."""


def main(names: Sequence[str]) -> bool:
    """Run the named clients one after the other; whether all went well."""
    with TemporaryDirectory(prefix="interop-") as folder:
        log = Path(folder, "service.log")
        environ = {
            **os.environ,
            **free_origins(*NAMES),
            "PYTHON": sys.executable,
            "WORKPLACE": folder,
        }
        environ["MUTUAL_TLS"] = environ["MUTUAL_TLS"].replace("http://", "https://")
        new_certificates(Path(folder))
        with serving(environ, log):
            outcomes = asyncio.run(run_all(names, environ, new_client_keys(Path(folder))))
        show(outcomes)
        well = all(outcome.succeeded for outcome in outcomes)
        if not well:
            click.echo(f"\nThe service said:\n{log.read_text()[-20_000:]}")
        return well


async def run_all(
    names: Sequence[str], environ: Mapping[str, str], published: dict[str, Any]
) -> list[Outcome]:
    """The result of each of them, with a person for their errands."""
    async with headless_chromium() as browser:
        app = web.Application()
        app.add_routes(Errands(browser, published).routes())
        async with (
            listening(app, environ["ERRANDS"]),
            asking_for_certificates(
                environ["MUTUAL_TLS"], environ["ISSUER"], Path(environ["WORKPLACE"])
            ),
            asyncio.TaskGroup() as preparing,
        ):
            # What the later ones need is downloaded and built while the first ones run.
            ready = {name: preparing.create_task(prepare(name, environ)) for name in names}
            return [await run(name, environ, ready[name]) for name in names]


def show(outcomes: Sequence[Outcome]) -> None:
    """The table at the end."""
    click.echo(f"\n{'client':<20}{'passed':>8}{'failed':>8}{'seconds':>9}")
    for outcome in outcomes:
        passed = sum(outcome.steps)
        failed = len(outcome.steps) - passed
        verdict = "" if outcome.succeeded else f"  FAILED with status {outcome.status}"
        click.echo(f"{outcome.name:<20}{passed:>8}{failed:>8}{outcome.seconds:>9.1f}{verdict}")


@click.command()
@click.argument("clients", nargs=-1, type=click.Choice(every_client()))
def interop(clients: tuple[str, ...]) -> None:
    """Run these clients, or all."""
    sys.exit(0 if main(clients or every_client()) else 1)


interop()
