"""`new-secret`: makes a secret, and the line of config.yaml with its hash."""

from __future__ import annotations

import base64
import hashlib
import secrets

import click

from service.cli.table import format_option, print_json


@click.command("new-secret")
@format_option
def new_secret(output: str) -> None:
    """Print a new secret for a client or an API, and the YAML line with its hash.

    Only the hash belongs into the configuration file. The secret is not kept: give it to the client.

    \b
    Example:
      python -m service new-secret
    """
    secret = make_secret()
    if output == "json":
        print_json({"secret": secret, "sha256": hash_of(secret)})
    else:
        click.echo(f"secret: {secret}")
        click.echo(yaml_line(secret))


def make_secret() -> str:
    """Return 256 random bits in characters that need no escaping anywhere."""
    return secrets.token_urlsafe(32)


def hash_of(secret: str) -> str:
    """Return the SHA-256 hash of a secret in base64."""
    return base64.b64encode(hashlib.sha256(secret.encode()).digest()).decode()


def yaml_line(secret: str) -> str:
    """Return the entry of a list of secrets in config.yaml."""
    return f'- sha256: "{hash_of(secret)}"'
