"""The configuration file that a command works with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import IO

import click

from service.catalogue import builtin_catalogue
from service.config.configuration import Configuration
from service.config.load import load
from service.config.problem import ConfigError, Problem
from service.config.rules.rule import FileRule

FILE = click.Path(path_type=Path)

file_option = click.option(
    "--config",
    "file",
    envvar="SERVICE_CONFIG",
    default="config.yaml",
    show_default=True,
    show_envvar=True,
    type=FILE,
    help="The configuration file.",
)


_FLAGS = {
    "SERVICE_HOST": "--host",
    "SERVICE_PORT": "--port",
    "SERVICE_WORKERS": "--workers",
    "SERVICE_STORE_URL": "--store",
}


class Refused(click.ClickException):
    """A configuration cannot be used; shown as `check` shows it."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        """Take all of them."""
        super().__init__("\n".join(each.describe() for each in problems))

    def show(self, file: IO[str] | None = None) -> None:
        """Print the problems as they are."""
        click.echo(self.message, file=file, err=file is None)


def load_settings(
    file: Path, flags: Mapping[str, str] | None = None, *, rules: Iterable[FileRule] = ()
) -> Configuration:
    """The configuration, checked by further `rules` too; `flags` (by the variable's name) beat the environment."""
    given = flags or {}
    try:
        return load(file, {**os.environ, **given}, builtin_catalogue(), rules)
    except ConfigError as error:
        raise Refused(_with_flags(each, given) for each in error.problems) from error


def _with_flags(problem: Problem, given: Mapping[str, str]) -> Problem:
    """The problem with the flag's own name, where a flag has set the variable."""
    return replace(problem, file=_FLAGS[problem.file]) if problem.file in given else problem
