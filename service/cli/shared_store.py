"""The store of the running service, for the commands that look into it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from service.config.schema.server import Store
from service.store.connection import open_store
from service.store.keyvalue import KeyValue, StoreUnavailable

T = TypeVar("T")

STORE_UNREACHABLE = 3
"""The exit code that says so."""

store_option = click.option(
    "--store",
    "store_url",
    help="The store's URL, in place of the configuration's.",
)


def flags_of(store_url: str | None) -> dict[str, str]:
    """The flag under the name of its environment variable, which it beats."""
    return {} if store_url is None else {"SERVICE_STORE_URL": store_url}


def on_store(store: Store, work: Callable[[KeyValue], Awaitable[T]]) -> T:
    """Do work on the store, or end the program with the reason why that cannot be."""
    if store.url.startswith("memory:"):
        raise click.ClickException(
            "memory:// belongs to the process of the service; no other one can look into it. "
            "Name a Redis in store.url, SERVICE_STORE_URL or --store."
        )
    try:
        return asyncio.run(_with_store(store, work))
    except StoreUnavailable as error:
        click.echo(f"Error: {error.description}: {error.__cause__}", err=True)
        raise SystemExit(STORE_UNREACHABLE) from error


async def _with_store(store: Store, work: Callable[[KeyValue], Awaitable[T]]) -> T:
    kv = open_store(store.url, timeout=store.timeout)
    try:
        return await work(kv)
    finally:
        await kv.close()
