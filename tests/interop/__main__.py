"""Runs clients that nobody here wrote against a service of this run's own: `python -m tests.interop [CLIENT …]`."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import urlsplit

import click
from aiohttp import web

from tests.driving.chromium import headless_chromium
from tests.interop.clients import Outcome, every_client, run
from tests.interop.errands import Errands
from tests.interop.service import free_origins, serving


def main(names: Sequence[str]) -> bool:
    """Run the named clients one after the other; whether all went well."""
    with TemporaryDirectory(prefix="interop-") as folder:
        log = Path(folder, "service.log")
        environ = {
            **os.environ,
            **free_origins("ISSUER", "ERRANDS", "SINGLE_PAGE", "RELYING_PARTY"),
            "PYTHON": sys.executable,
            "WORKPLACE": folder,
        }
        with serving(environ, log):
            outcomes = asyncio.run(run_all(names, environ))
        show(outcomes)
        well = all(outcome.succeeded for outcome in outcomes)
        if not well:
            click.echo(f"\nThe service said:\n{log.read_text()[-20_000:]}")
        return well


async def run_all(names: Sequence[str], environ: Mapping[str, str]) -> list[Outcome]:
    """How it went for each of them, with somebody who runs their errands."""
    async with somebody(environ):
        return [await run(name, environ) for name in names]


@asynccontextmanager
async def somebody(environ: Mapping[str, str]) -> AsyncIterator[None]:
    """A person with a browser, who runs errands for the clients."""
    async with headless_chromium() as browser:
        app = web.Application()
        app.add_routes(Errands(browser).routes())
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", urlsplit(environ["ERRANDS"]).port).start()
        yield
        await runner.cleanup()


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
