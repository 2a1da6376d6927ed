"""`explain`: says why a token is inactive or a request refused, and how to correct it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, BinaryIO, cast

import click
import msgspec
import orjson

from service.admin.explain import explain as explain_text
from service.admin.explain import needs_store
from service.admin.explain.parts import CannotExplain, Rows
from service.admin.explain.request import explain_value
from service.cli.secrets import read_text
from service.cli.settings import pass_settings
from service.cli.shared_store import on_store, with_shared
from service.cli.table import print_table
from service.config.configuration import Configuration
from service.protocol.errors import RefusedValue
from service.wiring.features import Features
from service.wiring.shared import Shared

Line = dict[str, Any]


@click.command("explain")
@click.argument("subject", metavar="TOKEN|URL", required=False)
@click.option("--request", "request_id", metavar="ID", help="Explain the request with this id.")
@click.option(
    "--log",
    type=click.File("rb"),
    default="-",
    help="With --request: the log, as lines of JSON; standard input by default.",
)
@pass_settings
def explain(
    settings: Configuration, subject: str | None, request_id: str | None, log: BinaryIO
) -> None:
    """Explain why a token or request is refused.

    Prints how to correct it, too. TOKEN is any token, code or cookie of the service. URL is an authorization request, or the
    answer to one at the client's redirect URI, or the token endpoint with the parameters of a token exchange. `-` reads either from standard input, so that it
    stays out of the shell's history. --request finds a request by its id (the X-Request-ID of the
    answer, which the error page shows too) in the log of all replicas.

    \b
    Example:
      echo "$TOKEN" | token-service explain -
      token-service explain 'https://id.example.com/connect/authorize?client_id=web&…'
      kubectl logs -l app.kubernetes.io/name=token-service --tail=-1 | token-service explain --request 803c27988fa447f9
    """
    if (subject is None) == (request_id is None):
        raise click.UsageError("give a token, a URL, or --request ID")
    if request_id is not None:
        _explain_request(settings, request_id, log)
        return
    text = (read_text("Token") if subject == "-" else subject or "").strip()
    if not text:
        raise click.ClickException("there is no token to explain")
    try:
        print_table(_explain_text(settings, text))
    except CannotExplain as error:
        raise click.ClickException(str(error)) from error


def _explain_text(settings: Configuration, text: str) -> Rows:
    """Explain a token or a URL; a URL needs the store only where a signing key has to verify a parameter."""
    uses_store = needs_store(text)

    async def load_and_explain(shared: Shared) -> Rows:
        features = Features(shared)
        if uses_store:
            await features.key_source.load()
        return await explain_text(features.explained, text)

    return (on_store if uses_store else with_shared)(settings, load_and_explain)


def _explain_request(settings: Configuration, request_id: str, log: BinaryIO) -> None:
    if log.isatty():
        raise click.UsageError("pipe the log to standard input, or name its file with --log")
    lines = list(_find_lines(request_id, log))
    if not lines:
        raise click.ClickException(
            "no line of the log has this id as its request_id; the log has to be lines of JSON "
            "(SERVICE_LOG_FORMAT=json)"
        )

    async def explain_lines(shared: Shared) -> list[Rows]:
        features = Features(shared)
        return [await _explain_line(features, line) for line in lines]

    for number, rows in enumerate(with_shared(settings, explain_lines)):
        if number:
            click.echo()
        print_table(rows)


def _find_lines(request_id: str, log: Iterable[bytes]) -> Iterator[Line]:
    """Yield the log lines of a request; text before the JSON, such as a pod's name, is skipped."""
    for line in log:
        if request_id.encode() in line:
            _, brace, members = line.partition(b"{")
            with suppress(orjson.JSONDecodeError):
                found: Line = orjson.loads(brace + members)
                if found.get("request_id") == request_id:
                    yield found


async def _explain_line(features: Features, line: Line) -> Rows:
    """Return the members of a log line, and for a refused value the registered ones."""
    rows = [(name, _text_of(value)) for name, value in line.items() if value is not None]
    try:
        refused = msgspec.convert(line, RefusedValue)
    except msgspec.ValidationError:
        return rows
    registered = await explain_value(features.explained, refused)
    return rows + [row for row in registered if row[0] not in {"parameter", "sent"}]


def _text_of(value: object) -> str:
    return (
        " ".join(map(str, cast("list[object]", value))) if isinstance(value, list) else str(value)
    )
