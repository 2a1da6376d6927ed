"""How a command gets a secret without showing it."""

from __future__ import annotations

import sys

import click


def read_secret(what: str) -> str:
    """The secret from a pipe, or asked for twice where a person types it."""
    if sys.stdin.isatty():
        secret: str = click.prompt(what, hide_input=True, confirmation_prompt=True, err=True)
    else:
        secret = read_text(what).removesuffix("\n").removesuffix("\r")
    if not secret:
        raise click.UsageError(f"{what.lower()} is empty")
    return secret


def read_text(what: str) -> str:
    """Standard input as UTF-8, whatever the locale says."""
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{what.lower()} is not UTF-8 text") from error
