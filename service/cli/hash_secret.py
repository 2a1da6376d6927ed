"""`hash-secret`: the line of config.yaml that stands for a client's or API's secret."""

from __future__ import annotations

import base64
import hashlib

import click

from service.cli.secret_input import read_secret


@click.command("hash-secret")
def hash_secret() -> None:
    """Print the YAML line for a secret, read from standard input or a prompt.

    \b
    Example:
      openssl rand -base64 32 | python -m service hash-secret
    """
    digest = hashlib.sha256(read_secret("Secret").encode()).digest()
    click.echo(f'- sha256: "{base64.b64encode(digest).decode()}"')
