"""`new-key`: the line of config.yaml with a new encryption key."""

from __future__ import annotations

import base64
import secrets

import click


@click.command("new-key")
def new_key() -> None:
    """Print the YAML line with a new key for signing.encryption_key.

    \b
    Example:
      python -m service new-key
    """
    key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    click.echo(f'encryption_key: "{key}"')
