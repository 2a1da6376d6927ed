"""`factors`: loads second factors that people had at another server, and counts those in the store."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import click
from msgspec.structs import asdict

from service.cli.settings import FILE, pass_settings
from service.cli.shared_store import on_store
from service.cli.table import format_option, print_json, print_table
from service.config.configuration import Configuration
from service.identity.factors.passkey_challenges import find_relying_party
from service.identity.factors.stored import FactorCount, PasskeyOwners, StoredFactors
from service.store.verbs import STEP
from service.takeover.factors import METHODS, OUTCOMES, FactorLoading, Tally
from service.takeover.factors_file import FactorsFile, LoadedUser
from service.wiring.shared import Shared

SHOWN = 20
"""Problems that are printed; of the others the number is."""


@click.group("factors")
def factors() -> None:
    """Load second factors of another server, and count those in the store.

    \b
    Example:
      token-service factors list
    """


@factors.command("load")
@click.argument("path", metavar="FILE", type=FILE)
@click.option("--replace", is_flag=True, help="Let them replace factors that users enrolled here.")
@click.option("--without-passkeys", is_flag=True, help="Load the apps alone.")
@pass_settings
@format_option
def load(
    settings: Configuration, path: Path, replace: bool, without_passkeys: bool, output: str
) -> None:
    """Load the authenticator apps and passkeys of FILE, a factors.json (docs/second-factors.md).

    Nothing is loaded unless all of the file can be. A factor that is there already stays as it is, so that the same file
    can be loaded again; one that a user enrolled here is kept.

    \b
    Example:
      token-service factors load imported/factors.json
    """
    party = find_relying_party(settings.issuer, settings.registry.mfa.webauthn.rp_id)
    rp_id = None if party is None else party.rp_id
    file = FactorsFile(path=path, rp_id=rp_id, with_passkeys=not without_passkeys)
    _require_readable(file)

    async def store(shared: Shared) -> Tally:
        loading = FactorLoading(
            enrolled=shared.factors,
            owners=PasskeyOwners(shared.stores),
            replaces=replace,
            emit=shared.emit,
        )
        total = Tally()
        for some in _batches(file):
            for tally in await asyncio.gather(*map(loading.load, some)):
                total += tally
        return total

    total = on_store(settings, store)
    rows = [[method, *[str(total[method, outcome]) for outcome in OUTCOMES]] for method in METHODS]
    if output == "json":
        print_json({method: {name: total[method, name] for name in OUTCOMES} for method in METHODS})
    else:
        print_table([["METHOD", *map(str.upper, OUTCOMES)], *rows])


@factors.command("list")
@pass_settings
@format_option
def list_factors(settings: Configuration, output: str) -> None:
    """Print how many users have second factors, and how many factors of each kind there are.

    \b
    Example:
      token-service factors list --format json
    """

    async def count(shared: Shared) -> FactorCount:
        if shared.users.factor_store is not None:
            raise click.ClickException("users.source keeps the second factors itself")
        return await StoredFactors(shared.stores, shared.seal).count()

    counted = asdict(on_store(settings, count))
    if output == "json":
        print_json(counted)
    else:
        print_table([[name.replace("_", " "), str(number)] for name, number in counted.items()])


def _require_readable(file: FactorsFile) -> None:
    """End the command with what is wrong with the file, before anything is stored."""
    found = 0
    for problem in file.read():
        if isinstance(problem, str):
            found += 1
            if found <= SHOWN:
                click.echo(problem, err=True)
    if found:
        raise click.ClickException(f"nothing was loaded; problems: {found}")


def _batches(file: FactorsFile) -> Iterator[list[LoadedUser]]:
    users = file.read()
    while batch := [*islice(users, STEP)]:
        for one in batch:
            if isinstance(one, str):
                raise click.ClickException(f"the file has changed meanwhile: {one}")
        yield [one for one in batch if isinstance(one, LoadedUser)]
