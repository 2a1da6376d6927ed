"""The commands of the program, one file each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
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
    "new-key",
    "diff",
    "keys",
    "explain",
    "sessions",
    "grants",
)


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
        with _without_rich():
            command: click.Command = getattr(import_module(f"service.cli.{name}"), name)
        return command


@contextmanager
def _without_rich() -> Iterator[None]:
    """structlog loads rich where the tools for development have brought it, for logs as we write none.

    That would be 5 MiB of every process, and 36 ms of its start.
    """
    modules = cast("dict[str, ModuleType | None]", sys.modules)
    if "rich" in modules:
        yield
        return
    modules["rich"] = None
    try:
        yield
    finally:
        del modules["rich"]


program = Commands(
    help="An OAuth 2.0 and OpenID Connect token service.\n\nExit codes: 0 done, 1 the input is wrong, 2 usage, "
    "3 the store cannot be reached.",
    context_settings={"help_option_names": ["-h", "--help"]},
)
