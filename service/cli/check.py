"""`check`, `diff`, `schema`: commands that read configuration files and nothing else."""

from __future__ import annotations

import os
from dataclasses import asdict
from pathlib import Path

import click

from service.catalogue import builtin_catalogue
from service.cli.settings import FILE, load_settings
from service.cli.table import format_option, print_json
from service.config.changes import registry_changes, settings_changes
from service.config.load import inspect
from service.config.rules.profiles import PROFILES, stricter_rules
from service.config.schema.json_schema import included_json_schema, json_schema
from service.start_rules import START_RULES


@click.command("check")
@click.argument("file", type=FILE, envvar="SERVICE_CONFIG", default="config.yaml")
@format_option
@click.option(
    "--profile",
    type=click.Choice(sorted(PROFILES)),
    help="A security profile whose stricter rules are checked, too; fapi2 is fapi2_security.",
)
def check(file: Path, output: str, profile: str | None) -> None:
    """Check a configuration file as `serve` would.

    Prints the place of every mistake, and how to correct it. Nothing is written, and no other server is contacted. Python classes that the file names
    (extension grants, users.source) are imported and not called.

    \b
    Example:
      python -m service check config.yaml --profile oauth21
    """
    catalogue = builtin_catalogue()
    stricter = stricter_rules(profile) if profile else ()
    problems = inspect(file, os.environ, catalogue, (*START_RULES, *stricter))
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


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


@click.command("diff")
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where there are differences.")
@format_option
def diff(old: Path, new: Path, *, exit_code: bool, output: str) -> None:
    """Print what changes if NEW replaces OLD.

    OLD and NEW are configuration files. In the output, + is added, - is removed and ~ is changed.

    \b
    Example:
      git show HEAD:config.yaml > old.yaml && python -m service diff old.yaml config.yaml
    """
    before, after = load_settings(old), load_settings(new)
    changes = [*registry_changes(before.registry, after.registry)]
    need_restart = [*settings_changes(before, after)]
    if output == "json":
        print_json({"changes": changes, "need_restart": need_restart})
    else:
        for line in (*changes, *(f"~ {name} (needs a restart)" for name in need_restart)):
            click.echo(line)
    raise SystemExit(1 if exit_code and (changes or need_restart) else 0)


@click.command("schema")
@click.option(
    "--included", is_flag=True, help="Print the schema of a file that config.yaml includes."
)
def schema(*, included: bool) -> None:
    """Print the JSON Schema of config.yaml.

    Editors complete and check the file with it.

    \b
    Example:
      python -m service schema > config.schema.json
    """
    made = included_json_schema if included else json_schema
    print_json(made(builtin_catalogue()))
