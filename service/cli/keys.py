"""`keys`: the service's keys in the store, and their schedule by hand."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import cast

import click

from service.cli.settings import file_option, load_settings
from service.cli.shared_store import flags_of, on_store, store_option
from service.cli.table import format_option, print_rows, written
from service.keys.algorithms import ENCRYPTION_ALGORITHMS
from service.keys.manual_rotation import CannotChangeKeys, ManualRotation
from service.keys.schedule import Keys, signing_key
from service.keys.stored_keys import KeysUnreadable, StoredKeys
from service.model.signing_key import SigningKey
from service.parts.clients import build_keys
from service.parts.shared import Shared

_COLUMNS = ("key", "algorithm", "state", "used_from", "retired_at")


@click.group("keys")
def keys() -> None:
    """List, rotate and retire the signing keys in the store; every replica follows within 10 seconds.

    \b
    Example:
      python -m service keys list
    """


@keys.command("list")
@file_option
@store_option
@format_option
def list_keys(file: Path, store_url: str | None, output: str) -> None:
    """Print every key with its state: announced, signing (or decrypting), retired.

    \b
    Example:
      python -m service keys list --store redis://localhost:6379
    """
    _print_after(file, store_url, _read, output)


@keys.command("rotate")
@click.option(
    "--now",
    "at_once",
    is_flag=True,
    help="Sign with the next key as soon as all replicas publish it.",
)
@file_option
@store_option
def rotate(file: Path, store_url: str | None, at_once: bool) -> None:
    """Announce the next key of every algorithm, ahead of its time.

    \b
    Example:
      python -m service keys rotate --now
    """
    _print_after(
        file,
        store_url,
        lambda stored: (
            ManualRotation(stored).sign_with_next()
            if at_once
            else ManualRotation(stored).announce_next()
        ),
    )


@keys.command("retire", context_settings={"ignore_unknown_options": True})  # a kid may begin with -
@click.argument("kid")
@file_option
@store_option
def retire(kid: str, file: Path, store_url: str | None) -> None:
    """Take a key out of use. It stays published, because tokens that it signed are still alive.

    A key that signs stops when its successor begins, within 10 seconds.

    \b
    Example:
      python -m service keys retire ComdC5d71e83sBYYhXlNmq4dAB3WGd2Y_-xkYWloBP0
    """
    _print_after(file, store_url, lambda stored: ManualRotation(stored).retire(kid))


async def _read(stored: StoredKeys) -> Keys:
    return (await stored.read())[1]


def _print_after(
    file: Path,
    store_url: str | None,
    work: Callable[[StoredKeys], Awaitable[Keys]],
    output: str = "text",
) -> None:
    """Do something with the keys in the store and print what they are then."""
    settings = load_settings(file, flags_of(store_url))
    if settings.signing.source == "files":
        raise click.ClickException(
            "signing.source is files: the keys are the operator's own, not the store's"
        )

    async def work_on(shared: Shared) -> Keys:
        return await work(cast("StoredKeys", build_keys(shared).source))

    try:
        found = on_store(settings, work_on)
    except (CannotChangeKeys, KeysUnreadable) as error:
        raise click.ClickException(str(error)) from error
    if not found:
        click.echo("there are no keys yet: the service makes them when it first starts", err=True)
    ordered = sorted(found, key=lambda key: (key.alg, key.sign_from))
    print_rows(_COLUMNS, [_row(key, found, _now()) for key in ordered], output)


def _row(key: SigningKey, keys: Keys, now: int) -> tuple[str | None, ...]:
    in_use = "decrypting" if key.alg in ENCRYPTION_ALGORITHMS else "signing"
    if key is signing_key(keys, key.alg, now):
        state = in_use
    elif key.sign_from > now and not key.is_retired(now):
        state = "announced"
    else:
        state = "retired"
    retired_at = None if key.retired_at is None else written(key.retired_at)
    return key.kid, key.alg, state, written(key.sign_from), retired_at


def _now() -> int:
    return int(time.time())
