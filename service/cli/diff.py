"""`diff`: shows what changes when one configuration file replaces another."""

from __future__ import annotations

from pathlib import Path

import click

from service.cli.settings import FILE, load_settings
from service.cli.table import format_option, print_json
from service.config.changes import registry_changes, settings_changes


@click.command("diff")
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
@click.option("--exit-code", is_flag=True, help="Exit with 1 where there are differences.")
@format_option
def diff(old: Path, new: Path, *, exit_code: bool, output: str) -> None:
    """Print what a change of the registry means: clients, scopes, redirect URIs added, removed, changed.

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
