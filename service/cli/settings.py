"""The configuration file that a command works with."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path

import click

from service.config.configuration import Configuration
from service.config.load import load
from service.config.problem import ConfigError
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


def load_settings(
    file: Path, flags: Mapping[str, str] | None = None, *, rules: Iterable[FileRule] = ()
) -> Configuration:
    """The configuration, checked by further `rules` too; `flags` (by the variable's name) beat the environment."""
    try:
        return load(file, {**os.environ, **(flags or {})}, rules=rules)
    except ConfigError as error:
        for problem in error.problems:
            click.echo(problem, err=True)
        raise SystemExit(1) from error
