"""The commands of the program, one file each."""

from __future__ import annotations

import sys
from collections.abc import Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import cast

import click

COMMANDS = (  # To add one: a file of its name beside this one, and its name here.
    "serve",
    "check",
    "schema",
    "hash-secret",
    "hash-password",
    "new",
    "new-secret",
    "new-key",
    "diff",
    "keys",
    "explain",
    "sessions",
    "grants",
)

UNASKED = ("greenlet", "opentelemetry", "rich")


class Commands(click.Group):
    """Imports a command when it is asked for: no command waits for what another one needs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """All there are, in the order in which help shows them."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command that the file of this name holds under this name."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        with alone():
            command: click.Command = getattr(import_module(f"service.cli.{name}"), name)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command, or name those that were probably meant."""
        try:
            return super().resolve_command(ctx, args)
        except click.exceptions.NoSuchCommand as error:
            raise click.exceptions.NoSuchCommand(
                error.command_name, possibilities=COMMANDS, ctx=ctx
            ) from error


@contextmanager
def alone() -> Generator[None]:
    """Hide what libraries load only because it is there, though nobody has asked for it.

    structlog takes rich and greenlet, redis-py takes OpenTelemetry: 7 MiB of every process where
    the tools for development are installed.
    """
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    hidden = [name for name in UNASKED if name not in modules]
    modules.update(dict.fromkeys(hidden))
    try:
        yield
    finally:
        for name in hidden:
            del modules[name]


program = click.version_option(package_name="token-service", message="token-service %(version)s")(
    Commands(
        help="An OAuth 2.0 and OpenID Connect token service.\n\nExit codes: 0 done, 1 the input is wrong, 2 usage, "
        "3 the store cannot be reached.\n\n\b\nExample:\n  python -m service check config.yaml",
        context_settings={"help_option_names": ["-h", "--help"]},
    )
)
