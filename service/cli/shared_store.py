"""Runs a command's work on the store of the running service."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import click

from service.cli.settings import Refused
from service.config.configuration import Configuration
from service.config.problem import CannotServe
from service.keys.schedule import CannotChangeKeys, KeyFileError, KeysUnreadable
from service.model.user import UsersUnavailable
from service.observe.logs import configure_logs
from service.store.keyvalue import StoreUnavailable
from service.wiring.shared import Shared

T = TypeVar("T")

STORE_UNREACHABLE = 3
"""The exit code."""


def on_store(settings: Configuration, work: Callable[[Shared], Awaitable[T]]) -> T:
    """Run work on the store of the running service, which cannot be memory://."""
    if settings.store.url.startswith("memory:"):
        raise click.ClickException(
            "memory:// is a store inside the process of the service, so that no other process can "
            "read it. Name a Redis in store.url, SERVICE_STORE_URL or --store."
        )
    return with_shared(settings, work)


def with_shared(settings: Configuration, work: Callable[[Shared], Awaitable[T]]) -> T:
    """Run work with the shared parts, or end the program with the reason why that is impossible."""

    configure_logs("warning")

    async def run() -> T:
        shared = Shared(settings, counted=False)
        try:
            return await work(shared)
        finally:
            await shared.close()

    try:
        return asyncio.run(run())
    except CannotServe as error:
        raise Refused([settings.problem(error.finding)]) from error
    except (CannotChangeKeys, KeyFileError, KeysUnreadable) as error:
        raise click.ClickException(str(error)) from error
    except (StoreUnavailable, UsersUnavailable) as error:
        click.echo(f"Error: {error.description}: {error.__cause__}", err=True)
        raise SystemExit(STORE_UNREACHABLE) from error
