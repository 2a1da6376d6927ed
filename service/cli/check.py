"""`check`: says what is wrong with a configuration file."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource
from msgspec.structs import asdict

from service.cli.importing import without_unwanted
from service.cli.settings import (
    FILE,
    flags_of,
    name_flags,
    redirect_prints_of_plugins,
    store_option,
)
from service.cli.table import format_option, print_json
from service.clients.rules.profiles import PROFILES, stricter_rules
from service.config.problem import ConfigError, Problem
from service.start.checks import START_RULES
from service.start.load import inspect, load

if TYPE_CHECKING:
    from service.config.judge import FileRule


@click.command("check")
@click.argument("file", type=FILE, envvar="SERVICE_CONFIG", default="config.yaml")
@click.option("--config", "named", type=FILE, help="The same as FILE, as other commands have it.")
@store_option
@format_option
@click.option(
    "--profile",
    type=click.Choice(sorted(PROFILES)),
    help="A security profile whose stricter rules are checked, too; fapi2 is fapi2_security.",
)
def check(
    file: Path, named: Path | None, output: str, profile: str | None, **flags: str | None
) -> None:
    """Check a configuration file as `serve` would.

    Prints the place of every mistake, and how to correct it. Nothing is written, and no other server is contacted but the
    store, where --store names it: then what a retired signing.encryption_key encrypts is counted. Python classes that the
    file names (extension grants, users.source) are imported and not called.

    \b
    Example:
      token-service check config.yaml --profile oauth21
    """
    source = click.get_current_context().get_parameter_source("file")
    if named and source is ParameterSource.COMMANDLINE:
        raise click.UsageError("give FILE or --config, not both")
    file = named or file
    rules = (*START_RULES, *(stricter_rules(profile) if profile else ()))
    given = {name: value for name, value in flags.items() if value is not None}
    reported = (_find_with_store if given else _find)(file, {**os.environ, **given}, rules)
    problems = name_flags(reported, flags_of(given))
    valid = all(problem.severity == "warning" for problem in problems)
    if output == "json":
        print_json({"valid": valid, "problems": [asdict(each) for each in problems]})
    else:
        for problem in problems:
            click.echo(problem.describe())
        errors = sum(problem.severity == "error" for problem in problems)
        found = (_count(errors, "error"), _count(len(problems) - errors, "warning"))
        click.echo(f"{file}: {', '.join(found)}", err=True)
    raise SystemExit(0 if valid else 1)


def _find(file: Path, environ: Mapping[str, str], rules: Iterable[FileRule]) -> tuple[Problem, ...]:
    with redirect_prints_of_plugins():
        return inspect(file, environ, rules)


def _find_with_store(
    file: Path, environ: Mapping[str, str], rules: Iterable[FileRule]
) -> tuple[Problem, ...]:
    with without_unwanted():
        from service.cli.keys import find_retired_keys  # noqa: PLC0415 - for the few checks that need a store

    try:
        with redirect_prints_of_plugins():
            settings = load(file, environ, rules)
    except ConfigError as error:
        return error.problems
    return (*settings.warnings, *find_retired_keys(settings))


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
