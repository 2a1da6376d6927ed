"""`schema`: prints what a configuration file may hold."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from service import config
from service.cli.table import print_json

FILE = Path(config.__file__).with_name("config.schema.json")
"""The JSON Schema, which `python -m scripts.docs` writes."""


@click.command("schema")
@click.option(
    "--included", is_flag=True, help="Print the schema of a file that config.yaml includes."
)
def schema(*, included: bool) -> None:
    """Print the JSON Schema of config.yaml.

    Editors complete and check the file with it.

    \b
    Example:
      token-service schema > config.schema.json
    """
    text = FILE.read_text(encoding="utf-8")
    if included:
        print_json(_of_included(json.loads(text)))
    else:
        click.echo(text, nl=False)


def _of_included(schema: dict[str, Any]) -> dict[str, Any]:
    """Return the schema of a file that config.yaml includes: the lists of the registry, and nothing else."""
    from service.config.reading.source import LISTS  # noqa: PLC0415 - YAML

    sections, definitions = schema["properties"], schema["$defs"]
    users = {"list": definitions["Users"]["properties"]["list"]}
    made = schema | {
        "title": "a file that config.yaml of the token service includes",
        "properties": {name: sections[name] for name, *_ in LISTS},
        "$defs": definitions | {"Users": definitions["Users"] | {"properties": users}},
    }
    del made["required"]
    return made
