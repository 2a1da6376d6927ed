"""`new user`: prints an entry for `users.list`, with the hash of a password."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

import click
import yaml

from service.cli.secrets import read_secret
from service.cli.settings import file_option, load_settings
from service.config.configuration import Configuration
from service.identity import hashing
from service.model.user import fold_username


@click.command("user")
@click.argument("username")
@click.option("--name", help="The name that pages and applications show.")
@click.option("--email", help="The e-mail address, which you have verified.")
@click.option(
    "--sub", help="The subject identifier, which must never change.  [default: a new one]"
)
@click.option("--group", "groups", multiple=True, help="A value of the claim groups.")
@file_option
def new_user(  # noqa: PLR0917 - click calls it by name
    username: str,
    name: str | None,
    email: str | None,
    sub: str | None,
    groups: tuple[str, ...],
    file: Path,
) -> None:
    """Print an entry for a new user.

    The password is read from standard input, or asked for; only its hash is printed.

    \b
    Example:
      token-service new user carol --name "Carol Doe" --email carol@example.com
    """
    settings = load_settings(file)
    _require_free(settings, username, sub)
    password = hashing.hash_password(read_secret("Password"))
    claims: dict[str, object] = {"name": name, "email": email}
    claims |= {"email_verified": True if email else None, "groups": list(groups) or None}
    known = {claim: value for claim, value in claims.items() if value is not None}
    entry = {"sub": sub or str(uuid4()), "username": username, "password": password}
    users = {"users": {"list": [entry | ({"claims": known} if known else {})]}}
    click.echo(
        "# For config.yaml. Where it has users.list already, paste the entry there.", err=True
    )
    text = yaml.safe_dump(users, sort_keys=False, allow_unicode=True, width=1000)
    click.echo(text.replace("${", "$${"), nl=False)
    click.echo("# Check the file, and reload the service (SIGHUP).", err=True)


def _require_free(settings: Configuration, username: str, sub: str | None) -> None:
    source = settings.users.source
    if source != "file":
        raise click.ClickException(f"users.source is {source}: new users are made there")
    for user in settings.registry.users:
        if fold_username(user.username) == fold_username(username):
            raise click.ClickException(f"{user.username} is the name of a user already")
        if user.sub == sub:
            raise click.ClickException(f"{sub} is the sub of a user already")
