"""`check`, `diff`, `schema`: commands that read configuration files and nothing else."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path

import click

from service.catalogue import builtin_catalogue
from service.cli.settings import FILE, load_settings, store_option
from service.cli.table import format_option, print_json
from service.cli.ways.changes import gained_ways
from service.cli.ways.drawing import Edge, edge_members
from service.cli.ways.finding import find_ways
from service.cli.ways.places import Places
from service.config.changes import registry_changes, settings_changes
from service.config.load import inspect
from service.config.problem import Problem
from service.config.rules.profiles import PROFILES, stricter_rules
from service.config.schema.json_schema import included_json_schema, json_schema
from service.start_rules import START_RULES


@click.command("check")
@click.argument("file", type=FILE, envvar="SERVICE_CONFIG", default="config.yaml")
@store_option
@format_option
@click.option(
    "--profile",
    type=click.Choice(sorted(PROFILES)),
    help="A security profile whose stricter rules are checked, too; fapi2 is fapi2_security.",
)
def check(file: Path, output: str, profile: str | None, **flags: str | None) -> None:
    """Check a configuration file as `serve` would.

    Prints the place of every mistake, and how to correct it. Nothing is written, and no other server is contacted but the
    store, where --store names it: then what a retired signing.encryption_key encrypts is counted. Python classes that the
    file names (extension grants, users.source) are imported and not called.

    \b
    Example:
      python -m service check config.yaml --profile oauth21
    """
    catalogue = builtin_catalogue()
    stricter = stricter_rules(profile) if profile else ()
    given = {name: value for name, value in flags.items() if value is not None}
    problems = inspect(file, {**os.environ, **given}, catalogue, (*START_RULES, *stricter))
    valid = _is_valid(problems)
    if given and valid:
        problems += _look_into_store(file, given)
        valid = _is_valid(problems)
    if output == "json":
        print_json({"valid": valid, "problems": [asdict(each) for each in problems]})
    else:
        for problem in problems:
            click.echo(problem.describe())
        errors = sum(problem.severity == "error" for problem in problems)
        found = (_count(errors, "error"), _count(len(problems) - errors, "warning"))
        click.echo(f"{file}: {', '.join(found)}", err=True)
    raise SystemExit(0 if valid else 1)


def _is_valid(problems: Iterable[Problem]) -> bool:
    return all(problem.severity == "warning" for problem in problems)


def _look_into_store(file: Path, given: Mapping[str, str]) -> tuple[Problem, ...]:
    from service.cli.reencrypting import find_problems  # noqa: PLC0415 - for the few checks that need a store

    return find_problems(load_settings(file, given))


def _count(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


@click.command("diff")
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where there are differences.")
@click.option(
    "--fail-on-new-reach",
    is_flag=True,
    help="Exit with 1 where a client can newly get tokens for an API or a scope.",
)
@format_option
def diff(old: Path, new: Path, *, exit_code: bool, fail_on_new_reach: bool, output: str) -> None:
    """Print what changes if NEW replaces OLD, and who can newly get tokens for which API.

    OLD and NEW are configuration files. In the output, + is added, - is removed and ~ is changed.

    \b
    Example:
      git show HEAD:config.yaml > old.yaml && python -m service diff old.yaml config.yaml
    """
    before, after = load_settings(old), load_settings(new)
    changes = [*registry_changes(before.registry, after.registry)]
    need_restart = [*settings_changes(before, after)]
    could, can = find_ways(before.registry), find_ways(after.registry)
    gained, lost = [*gained_ways(could, can, Places(new))], [*gained_ways(can, could, Places(old))]
    if output == "json":
        reach = {"new_reach": gained, "lost_reach": lost}
        shown = {name: [edge_members(edge) for edge in edges] for name, edges in reach.items()}
        print_json({"changes": changes, "need_restart": need_restart, **shown})
    else:
        restarts = [f"~ {name} (needs a restart)" for name in need_restart]
        reaching = [*_reach_lines("+", gained), *_reach_lines("-", lost)]
        click.echo("".join(f"{line}\n" for line in (*changes, *restarts, *reaching)), nl=False)
    failed = (exit_code and (changes or need_restart)) or (fail_on_new_reach and gained)
    raise SystemExit(1 if failed else 0)


def _reach_lines(sign: str, edges: Iterable[Edge]) -> Iterator[str]:
    for edge in edges:
        yield f"{sign} reach: {edge.way.client_id} -> {edge.way.api} {edge.label}"


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
