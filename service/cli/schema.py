"""`schema`: the JSON Schema of config.yaml, for editors."""

from __future__ import annotations

import json

import click

from service.catalogue import builtin_catalogue
from service.config.schema.json_schema import included_json_schema, json_schema


@click.command("schema")
@click.option("--included", is_flag=True, help="The schema of a file that it includes.")
def schema(*, included: bool) -> None:
    """Print the JSON Schema of the configuration file, for editors.

    \b
    Example:
      python -m service schema > config.schema.json
    """
    made = included_json_schema if included else json_schema
    click.echo(json.dumps(made(builtin_catalogue()), indent=2))
