"""The configuration that a command works with, by --config and --store."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager, redirect_stdout
from functools import partial, wraps
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click
from msgspec.structs import replace

from service.config.configuration import Configuration
from service.config.problem import ConfigError, Problem

if TYPE_CHECKING:
    from service.config.reading.source import Source

FILE = click.Path(path_type=Path)

environment_option = partial(click.option, show_default=True, show_envvar=True)
file_option = environment_option(
    "--config",
    "file",
    envvar="SERVICE_CONFIG",
    default="config.yaml",
    type=FILE,
    help="The configuration file.",
)
store_option = click.option(
    "--store",
    "SERVICE_STORE_URL",
    help="The store's URL, such as redis://localhost:6379, in place of the configuration's.",
)


def pass_settings(command: Callable[..., None]) -> Callable[..., None]:
    """Add --config and --store to a command, and pass the configuration as `settings`."""

    @file_option
    @store_option
    @wraps(command)
    def run(file: Path, **others: Any) -> None:
        store_url = others.pop("SERVICE_STORE_URL")
        flags = {} if store_url is None else {"SERVICE_STORE_URL": store_url}
        command(settings=load_settings(file, flags), **others)

    return run


class Refused(click.ClickException):
    """A configuration cannot be used; shown as `check` shows it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        super().__init__("\n".join(each.describe() for each in problems))

    def show(self, file: IO[str] | None = None) -> None:
        """Print the problems as they are."""
        click.echo(self.message, file=file, err=file is None)


def load_settings(file: Path, flags: Mapping[str, str] | None = None) -> Configuration:
    """Return the configuration; flags, by the variable's name, beat the environment."""
    return load_with_source(file, flags)[0]


def load_with_source(
    file: Path, flags: Mapping[str, str] | None = None
) -> tuple[Configuration, Source]:
    """Return the configuration, and what knows the place of each value."""
    from service.start import load  # noqa: PLC0415 - not where another process reads

    given = flags or {}
    with shown_as_refused(given), redirect_prints_of_plugins():
        return load.load_with_source(file, {**os.environ, **given})


def redirect_prints_of_plugins() -> AbstractContextManager[object]:
    """Keep standard output for the command's result: an operator's class may print or log when it is imported."""
    return redirect_stdout(sys.stderr)


@contextmanager
def shown_as_refused(given: Mapping[str, str]) -> Generator[None]:
    """Show a ConfigError as `check` would; for values of `given`, by the variable's name, with the name of the flag."""
    try:
        yield
    except ConfigError as error:
        raise Refused(name_flags(error.problems, flags_of(given))) from error


def flags_of(given: Mapping[str, str]) -> Mapping[str, str]:
    """Return the flags of the command by which these variables were given."""
    parameters = click.get_current_context().command.params
    return {str(each.name): each.opts[0] for each in parameters if each.name in given}


def name_flags(problems: Iterable[Problem], flags: Mapping[str, str]) -> tuple[Problem, ...]:
    """Return the problems with the name of the flag in place of the variable that it stands for."""
    return tuple(
        replace(each, file=flags[each.file]) if each.file in flags else each for each in problems
    )
