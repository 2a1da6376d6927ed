"""`import`: takes over from another server."""

from __future__ import annotations

import click

from service.cli.settings import FILE
from service.cli.table import print_json
from service.takeover.folder import FolderRefused
from service.takeover.judging import IssuerRefused
from service.takeover.reading import Unreadable
from service.takeover.taking_over import SOURCES, Takeover, take_over

LEFT_OUT = 4
"""The exit code where something was not taken."""


@click.command("import")
@click.argument("kind", type=click.Choice([*SOURCES]))
@click.argument("path", type=FILE)
@click.option("--out", type=FILE, help="The folder to write; none: only the report.")
@click.option("--issuer", help="The issuer, where it is not the one that the source names.")
@click.option(
    "--jwks", type=FILE, help="A file with the public keys of the old server, such as its JWKS."
)
@click.option(
    "--report",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How the report is printed.",
)
@click.option("--force", is_flag=True, help="Replace the folder, if an import has written it.")
def import_(report: str, **asked: object) -> None:
    """Take over from another server.

    Writes its clients, users and keys as a configuration of this service. PATH is what the other server exports: a file, or for keycloak and identityserver also a folder. The report says what was taken, what is
    different now, and what was not taken, why, and what to do. Exit codes: 0 all was taken; 4 something was not.

    \b
    Example:
      token-service import keycloak realm.json --out taken-over --issuer https://id.example.com/realms/shop
    """
    try:
        result = take_over(Takeover(**asked))  # type: ignore[arg-type]
    except IssuerRefused as error:
        name = "--issuer" if asked["issuer"] else "the issuer of the source, without --issuer"
        raise click.UsageError(f"{name}: {error}") from error
    except (Unreadable, FolderRefused) as error:
        raise click.ClickException(str(error)) from error
    if report == "json":
        print_json(result.as_json())
    else:
        for line in result.lines():
            click.echo(line)
    raise SystemExit(0 if result.is_complete else LEFT_OUT)
