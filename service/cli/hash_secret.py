"""`hash-secret`: makes the line of config.yaml with the hash of a secret."""

from __future__ import annotations

import click

from service.cli.new_secret import yaml_line
from service.cli.secret_input import read_secret


@click.command("hash-secret")
def hash_secret() -> None:
    """Print the YAML line for a secret, read from standard input or a prompt; new-secret makes a new one.

    \b
    Example:
      python -m service hash-secret < secret.txt
    """
    click.echo(yaml_line(read_secret("Secret")))
