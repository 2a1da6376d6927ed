"""`hash-password`: the line of config.yaml that stands for a user's password."""

from __future__ import annotations

import click
from argon2 import PasswordHasher

from service.cli.secret_input import read_secret

MEMORY_KIB = 19_456
"""With two passes on one lane: what OWASP's Password Storage Cheat Sheet asks for at least."""


@click.command("hash-password")
def hash_password() -> None:
    """Print the YAML line for a password, read from standard input or a prompt.

    \b
    Example:
      python -m service hash-password < password.txt
    """
    hasher = PasswordHasher(time_cost=2, memory_cost=MEMORY_KIB, parallelism=1)
    click.echo(f'password: "{hasher.hash(read_secret("Password"))}"')
