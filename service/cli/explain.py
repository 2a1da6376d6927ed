"""`explain`: why is this token inactive?"""

from __future__ import annotations

from pathlib import Path

import click

from service.cli.explanation import Explanation
from service.cli.secret_input import read_text
from service.cli.settings import file_option, load_settings
from service.cli.shared_store import flags_of, on_parts, store_option
from service.cli.table import table
from service.keys.key_files import KeyFileError
from service.keys.rotation import KeysUnreadable
from service.parts import Parts


@click.command("explain")
@click.argument("token")
@file_option
@store_option
def explain(token: str, file: Path, store_url: str | None) -> None:
    """Print what a token is, whose, and whether it is active, or the first check that it fails.

    TOKEN may be `-`: it is then read from standard input, and stays out of the shell's history.

    \b
    Example:
      echo "$TOKEN" | python -m service explain -
    """
    asked = (read_text("Token") if token == "-" else token).strip()
    if not asked:
        raise click.ClickException("there is no token to explain")

    async def explained(parts: Parts) -> dict[str, str]:
        await parts.key_source.load()
        return await Explanation(parts).of(asked)

    try:
        facts = on_parts(load_settings(file, flags_of(store_url)), explained)
    except (KeyFileError, KeysUnreadable) as error:
        raise click.ClickException(str(error)) from error
    for line in table(facts.items()):
        click.echo(line)
