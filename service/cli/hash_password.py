"""`hash-password`: the line of config.yaml that stands for a user's password."""

from __future__ import annotations

import click

from service.cli.secret_input import read_secret
from service.identity.passwords import hash_password as of_password


@click.command("hash-password")
def hash_password() -> None:
    """Print the YAML line for a password, read from standard input or a prompt.

    \b
    Example:
      python -m service hash-password < password.txt
    """
    click.echo(f'password: "{of_password(read_secret("Password"))}"')
