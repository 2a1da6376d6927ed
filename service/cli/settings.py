"""The configuration file that a command works with."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import click

from service.config.configuration import Configuration
from service.config.load import load
from service.config.problem import ConfigError

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


def load_settings(file: Path, flags: Mapping[str, str] | None = None) -> Configuration:
    """The checked configuration; `flags` (by the name of the environment variable) beat the environment."""
    try:
        return load(file, {**os.environ, **(flags or {})})
    except ConfigError as error:
        for problem in error.problems:
            click.echo(problem, err=True)
        raise SystemExit(1) from error
