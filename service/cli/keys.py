"""`keys`: lists, rotates and retires the service's keys in the store, and encrypts anew what is stored encrypted."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from typing import TYPE_CHECKING, cast

import click

from service.cli.settings import pass_settings
from service.cli.shared_store import on_store
from service.cli.table import format_option, print_json, print_rows, print_table
from service.clock import clock
from service.config.configuration import Configuration
from service.config.problem import Finding, Problem, warning
from service.keys.reencryption import Reencryption
from service.keys.schedule import Keys, SigningKey, name_state, read_record
from service.wiring.shared import Shared

if TYPE_CHECKING:
    from service.keys.stored_keys import StoredKeys

_UNREADABLE = "in the store can be decrypted with none of the keys: put the one that encrypted them back into signing.encryption_key"
_COLUMNS = ("key", "algorithm", "state", "used_from", "retired_at")


@click.group("keys")
def keys() -> None:
    """List, rotate and retire signing keys, and encrypt anew.

    The keys are in the store. Every replica of the service follows within 10 seconds.

    \b
    Example:
      token-service keys list
    """


@keys.command("list")
@pass_settings
@format_option
def list_keys(settings: Configuration, output: str) -> None:
    """Print every key and its state.

    A key is first announced, then signing (or decrypting), then retired.

    \b
    Example:
      token-service keys list --store redis://localhost:6379
    """

    async def read(shared: Shared) -> Keys:
        _, found = await read_record(shared.kv, shared.prefix)
        return found

    _print_after(settings, read, output)


@keys.command("rotate")
@click.option(
    "--now",
    "at_once",
    is_flag=True,
    help="Sign with the next key as soon as all replicas publish it.",
)
@pass_settings
def rotate(settings: Configuration, at_once: bool) -> None:
    """Announce the next keys ahead of time.

    A key that is announced is published, so that APIs know it before it signs. Where the next keys are announced
    already, nothing changes, and the command says so.

    \b
    Example:
      token-service keys rotate --now
    """
    _change(settings, lambda stored: stored.rotate(at_once=at_once))


@keys.command("retire", context_settings={"ignore_unknown_options": True})  # a kid may begin with -
@click.argument("kid")
@pass_settings
def retire(settings: Configuration, kid: str) -> None:
    """Stop using a key. It stays published, because tokens that it signed are still valid.

    KID is the key's id, as `keys list` prints it. A key that signs stops when its successor
    begins, within 10 seconds.

    \b
    Example:
      token-service keys retire ComdC5d71e83sBYYhXlNmq4dAB3WGd2Y_-xkYWloBP0
    """
    _change(settings, lambda stored: stored.retire(kid))


@keys.command("reencrypt")
@pass_settings
@format_option
def reencrypt(settings: Configuration, output: str) -> None:
    """Encrypt anew what a retired signing.encryption_key still encrypts.

    These are second factors, clients' secrets and signing keys in the store. Run it once all replicas
    have started with the new key in the first place; they may go on serving. Then the others can be
    removed. The exit code is 1 where a record can be decrypted with none of the keys.

    \b
    Example:
      token-service keys reencrypt
    """
    tallies = on_store(settings, lambda shared: _open_reencryption(shared).renew())
    columns = {"kind": "kind", "reencrypted": "retired", "current": "current"}
    columns["unreadable"] = "unreadable"
    rows = [{name: getattr(each, of) for name, of in columns.items()} for each in tallies]
    if output == "json":
        print_json(rows)
    else:
        cells = [[str(cell) for cell in row.values()] for row in rows]
        print_table([[name.upper() for name in columns], *cells])
    if any(each.unreadable for each in tallies):
        raise click.ClickException(f"some records {_UNREADABLE}")


def _open_reencryption(shared: Shared) -> Reencryption:
    """Return what knows how the records of this store are encrypted."""
    return Reencryption(stores=shared.stores, seal=shared.seal, prefix=shared.prefix)


def find_retired_keys(settings: Configuration) -> tuple[Problem, ...]:
    """Return what is wrong with `signing.encryption_key` in view of the store; nothing is written."""
    return tuple(settings.problem(each) for each in _judge_tallies(settings))


def _judge_tallies(settings: Configuration) -> Iterator[Finding]:
    place = ("signing", "encryption_key")
    for tally in on_store(settings, lambda shared: _open_reencryption(shared).count()):
        if tally.retired:
            message = (
                f"a retired key still encrypts {tally.retired} records of {tally.kind} in the store"
            )
            yield warning(place, message, "run `token-service keys reencrypt`")
        if tally.unreadable:
            yield Finding(place, f"{tally.unreadable} records of {tally.kind} {_UNREADABLE}")


def _change(settings: Configuration, change: Callable[[StoredKeys], Awaitable[Keys]]) -> None:
    """Change the keys in the store, and print what they are then."""

    async def change_keys(shared: Shared) -> Keys:
        from service.wiring.identities import open_key_source  # noqa: PLC0415 - what makes keys; a list needs none of it

        keys = cast("StoredKeys", open_key_source(shared))  # key files are refused before
        _, before = await read_record(shared.kv, shared.prefix)
        after = await change(keys)
        if _times_of(after) == _times_of(before):
            click.echo("nothing has changed: the next keys are announced already", err=True)
        return after

    _print_after(settings, change_keys)


def _times_of(keys: Keys) -> set[tuple[str, int, int | None]]:
    return {(key.kid, key.sign_from, key.retired_at) for key in keys}


def _print_after(
    settings: Configuration, work: Callable[[Shared], Awaitable[Keys]], output: str = "text"
) -> None:
    if settings.signing.source == "files":
        raise click.ClickException(
            "signing.source is files: the keys are the operator's own, not the store's"
        )
    found = on_store(settings, work)
    if not found:
        click.echo("there are no keys yet: the service makes them when it first starts", err=True)
    ordered = sorted(found, key=lambda key: (key.alg, key.sign_from))
    print_rows(_COLUMNS, [_row(key, found) for key in ordered], output)


def _row(key: SigningKey, keys: Keys) -> tuple[str | int | None, ...]:
    return key.kid, key.alg, name_state(key, keys, clock()), key.sign_from, key.retired_at
