"""`new-secret`, `new-key`, `hash-secret`, `hash-password`: print lines of config.yaml for secrets."""

from __future__ import annotations

import base64
import secrets
import sys

import click

from service.cli.table import format_option, print_json
from service.identity import hashing
from service.model.secret import hash_by_sha256
from service.model.user import MAX_PASSWORD
from service.protocol.params import MAX_LENGTH
from service.protocol.typed_text import is_plain_text


@click.command("new-secret")
@format_option
def new_secret(output: str) -> None:
    """Print a new secret, and its YAML line.

    The line, which holds only a hash, belongs into the client or API in the configuration file. The
    secret is not kept: give it to the client or API.

    \b
    Example:
      token-service new-secret
    """
    secret = make_secret()
    if output == "json":
        print_json({"secret": secret, "sha256": hash_by_sha256(secret)})
    else:
        click.echo(f'secret: {secret}\n- sha256: "{hash_by_sha256(secret)}"')


@click.command("new-key")
@click.option("--raw", is_flag=True, help="Print the key alone, for a file or a variable.")
def new_key(raw: bool) -> None:
    """Print a new signing.encryption_key.

    The service encrypts its signing keys in the store with it.

    \b
    Example:
      token-service new-key --raw > encryption-key
    """
    key = base64.urlsafe_b64encode(secrets.token_bytes(32)).decode().rstrip("=")
    click.echo(key if raw else f'encryption_key: "{key}"')


@click.command("hash-secret")
def hash_secret() -> None:
    """Print the YAML line for a client's secret.

    The secret is read from standard input, or asked for. `new-secret` makes a new one.

    \b
    Example:
      token-service hash-secret < secret.txt
    """
    click.echo(
        f'- sha256: "{hash_by_sha256(read_secret("Secret", longest=MAX_LENGTH["client_secret"]))}"'
    )


@click.command("hash-password")
def hash_password() -> None:
    """Print the YAML line for a user's password.

    The password is read from standard input, or asked for.

    \b
    Example:
      token-service hash-password < password.txt
    """
    click.echo(f'password: "{hashing.hash_password(read_password())}"')


def make_secret() -> str:
    """Return 256 random bits in characters that need no escaping anywhere."""
    return secrets.token_urlsafe(32)


def read_password() -> str:
    """Read a password that the sign-in accepts."""
    return read_secret("Password", longest=MAX_PASSWORD)


def read_secret(what: str, *, longest: int) -> str:
    """Read a secret that can be sent from a pipe, or ask for it twice where a person types it."""
    if sys.stdin.isatty():
        secret: str = click.prompt(what, hide_input=True, confirmation_prompt=True, err=True)
    else:
        secret = read_text(what).removesuffix("\n").removesuffix("\r")
    if not secret:
        raise click.UsageError(f"{what.lower()} is empty")
    if "\n" in secret:
        raise click.UsageError(f"{what.lower()} has several lines (RFC 6749, Appendix A)")
    if len(secret) > longest:
        raise click.UsageError(f"{what.lower()} is longer than {longest} characters")
    if not is_plain_text(secret, longest=longest):
        raise click.UsageError(f"{what.lower()} has a control character (RFC 6749, Appendix A)")
    return secret


def read_text(what: str) -> str:
    """Read standard input as UTF-8, whatever the locale says."""
    try:
        return sys.stdin.buffer.read().decode()
    except UnicodeDecodeError as error:
        raise click.ClickException(f"{what.lower()} is not UTF-8 text") from error
