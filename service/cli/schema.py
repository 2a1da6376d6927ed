"""`schema`: the JSON Schema of config.yaml, for editors."""

from __future__ import annotations

import json

import click

from service.config.json_schema import json_schema


@click.command("schema")
def schema() -> None:
    """Print the JSON Schema of the configuration file, for editors.

    \b
    Example:
      python -m service schema > config.schema.json
    """
    click.echo(json.dumps(json_schema(), indent=2))
