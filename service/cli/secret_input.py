"""How a command gets a secret without showing it."""

from __future__ import annotations

import sys

import click


def read_secret(what: str) -> str:
    """The secret from a pipe, or asked for twice where a person types it."""
    if sys.stdin.isatty():
        secret: str = click.prompt(what, hide_input=True, confirmation_prompt=True, err=True)
    else:
        secret = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not secret:
        raise click.UsageError(f"{what.lower()} is empty")
    return secret
