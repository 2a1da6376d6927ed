"""`diff`: what replacing one configuration file by another changes."""

from __future__ import annotations

from pathlib import Path

import click

from service.cli.settings import FILE, load_settings
from service.config.changes import registry_changes, settings_changes


@click.command("diff")
@click.argument("old", type=FILE)
@click.argument("new", type=FILE)
def diff(old: Path, new: Path) -> None:
    """Print what a change of the registry means: clients, scopes, redirect URIs added, removed, changed.

    \b
    Example:
      git show HEAD:config.yaml > old.yaml && python -m service diff old.yaml config.yaml
    """
    before, after = load_settings(old), load_settings(new)
    for change in registry_changes(before.registry, after.registry):
        click.echo(change)
    for name in settings_changes(before, after):
        click.echo(f"~ {name} (needs a restart)")
