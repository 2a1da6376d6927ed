"""`check`: everything that is wrong with a configuration file, or would be under a stricter profile."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import click

from service.catalogue import builtin_catalogue
from service.cli.settings import FILE
from service.cli.table import format_option, print_json
from service.config.load import inspect
from service.config.problem import Problem
from service.config.rules.profiles import PROFILES, profile_rules
from service.start_rules import START_RULES


@click.command("check")
@click.argument("file", type=FILE, envvar="SERVICE_CONFIG", default="config.yaml")
@format_option
@click.option(
    "--profile",
    type=click.Choice(sorted(PROFILES)),
    help="Stricter rules to check against; fapi2 is fapi2_security.",
)
def check(file: Path, output: str, profile: str | None) -> None:
    """Check all that a start would, and say where and how to mend what is wrong.

    Nothing is written and nobody is asked: handlers and a UserStore of your own are looked at, and not made.

    \b
    Example:
      python -m service check config.yaml --profile oauth21
    """
    catalogue = builtin_catalogue()
    stricter = profile_rules(profile, catalogue) if profile else ()
    problems = inspect(file, os.environ, catalogue, (*START_RULES, *stricter))
    valid = all(problem.severity == "warning" for problem in problems)
    if output == "json":
        print_json({"valid": valid, "problems": [asdict(each) for each in problems]})
    else:
        _print(file, problems)
    raise SystemExit(0 if valid else 1)


def _print(file: Path, problems: tuple[Problem, ...]) -> None:
    for problem in problems:
        click.echo(problem.describe())
    errors = sum(problem.severity == "error" for problem in problems)
    found = (_counted(errors, "error"), _counted(len(problems) - errors, "warning"))
    click.echo(f"{file}: {', '.join(found)}", err=True)


def _counted(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
