"""`explain`: says why a token is inactive or a request refused, and how to mend it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

import click

from service.cli.explained_request import NEEDS_KEYS, NotExplained, Rows, explain_url, parameters_of
from service.cli.explanation import Explanation
from service.cli.logged_request import explain_line, lines_of
from service.cli.secret_input import read_text
from service.cli.settings import file_option, load_settings
from service.cli.shared_store import flags_of, on_store, store_option, with_shared
from service.cli.table import table
from service.config.configuration import Configuration
from service.keys.stored_keys import KeysUnreadable
from service.parts import build_parts
from service.parts.shared import Shared
from service.protocol.errors import InvalidRequest


@click.command("explain")
@click.argument("subject", metavar="TOKEN|URL", required=False)
@click.option("--request", "request_id", metavar="ID", help="Explain the request with this id.")
@click.option(
    "--log",
    type=click.File("rb"),
    default="-",
    help="With --request: the log, as lines of JSON; standard input by default.",
)
@file_option
@store_option
def explain(
    subject: str | None,
    request_id: str | None,
    log: BinaryIO,
    file: Path,
    store_url: str | None,
) -> None:
    """Print why a token is inactive, or why a request is refused, and how to mend it.

    TOKEN is any token, code or cookie of the service. URL is an authorization request, or the
    answer to one at the client's redirect URI. `-` reads either from standard input, so that it
    stays out of the shell's history. --request finds a request by its id (the X-Request-ID of the
    answer, which the error page shows too) in the log of all replicas.

    \b
    Example:
      echo "$TOKEN" | python -m service explain -
      python -m service explain 'https://id.example.com/connect/authorize?client_id=web&…'
      kubectl logs -l app.kubernetes.io/name=token-service --tail=-1 | python -m service explain --request 803c27988fa447f9
    """
    if (subject is None) == (request_id is None):
        raise click.UsageError("give a token, a URL, or --request ID")
    settings = load_settings(file, flags_of(store_url))
    if request_id is not None:
        _explain_request(settings, request_id, log)
        return
    text = (read_text("Token") if subject == "-" else subject or "").strip()
    if not text:
        raise click.ClickException("there is no token to explain")
    try:
        rows = _explain_url(settings, text) if "://" in text else _explain_token(settings, text)
    except (KeysUnreadable, NotExplained, InvalidRequest) as error:
        raise click.ClickException(str(error)) from error
    _print(rows)


def _explain_token(settings: Configuration, token: str) -> Rows:
    async def load_and_explain(shared: Shared) -> Rows:
        parts = build_parts(shared)
        await parts.keys.source.load()
        return list((await Explanation(parts).of(token)).items())

    return on_store(settings, load_and_explain)


def _explain_url(settings: Configuration, url: str) -> Rows:
    """Explain a URL; only what a signing key has to verify needs the store."""
    if not NEEDS_KEYS & set(parameters_of(url)):
        return with_shared(settings, lambda shared: explain_url(build_parts(shared), url))

    async def load_and_explain(shared: Shared) -> Rows:
        parts = build_parts(shared)
        await parts.keys.source.load()
        return await explain_url(parts, url)

    return on_store(settings, load_and_explain)


def _explain_request(settings: Configuration, request_id: str, log: BinaryIO) -> None:
    if log.isatty():
        raise click.UsageError("pipe the log to standard input, or name its file with --log")
    lines = list(lines_of(request_id, log))
    if not lines:
        raise click.ClickException(
            "no line of the log has this id as its request_id; the log has to be lines of JSON "
            "(SERVICE_LOG_FORMAT=json)"
        )

    async def explain_lines(shared: Shared) -> list[Rows]:
        parts = build_parts(shared)
        return [await explain_line(parts, line) for line in lines]

    for number, rows in enumerate(with_shared(settings, explain_lines)):
        if number:
            click.echo()
        _print(rows)


def _print(rows: Iterable[tuple[str, str]]) -> None:
    for line in table(rows):
        click.echo(line)
