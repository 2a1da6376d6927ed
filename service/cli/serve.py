"""`serve`: reads the configuration, and serves it."""

from __future__ import annotations

import gc
import os
from importlib import import_module
from pathlib import Path

import click

from service.cli import settings
from service.cli.importing import without_unwanted
from service.cli.settings import environment_option, flags_of, shown_as_refused
from service.observe.logs import FORMAT, FORMATS, LEVELS, configure_logs


def _read_workers(_: click.Context, __: click.Parameter, value: str | None) -> str | None:
    if value is None or value == "auto" or (value.isdecimal() and int(value) > 0):
        return value
    raise click.BadParameter("expected a number of processes, or auto")


@click.command("serve")
@settings.file_option
@click.option(
    "--host",
    "SERVICE_HOST",
    help="The IP address or host name to listen on, or several with commas; :: is IPv6 and IPv4.",
)
@click.option(
    "--port",
    "SERVICE_PORT",
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 is any free port.",
)
@click.option(
    "--workers",
    "SERVICE_WORKERS",
    callback=_read_workers,
    metavar="N|auto",
    help="How many processes serve; auto is one per CPU core.",
)
@settings.store_option
@click.option(
    "--watch", is_flag=True, help="Reload whenever a configuration file changes, as SIGHUP does."
)
@environment_option(
    "--log-level",
    envvar="SERVICE_LOG_LEVEL",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="info",
    help="The lowest level that is logged.",
)
@environment_option(
    "--log-format",
    FORMAT,
    envvar=FORMAT,
    type=click.Choice(FORMATS, case_sensitive=False),
    default="auto",
    help="auto is text on a terminal, and json elsewhere.",
)
def serve(*, file: Path, watch: bool, log_level: str, **flags: str | int | None) -> None:
    """Run the service.

    SIGTERM stops it after the running requests; SIGHUP reads clients, APIs, users and
    certificates of the configuration again.

    \b
    Flags beat the environment (SERVICE_HOST, SERVICE_PORT, SERVICE_WORKERS,
    SERVICE_STORE_URL), which beats the file.

    \b
    Example:
      token-service serve --store redis://localhost:6379 --workers auto
    """
    given = {variable: str(value) for variable, value in flags.items() if value is not None}
    environ = {**os.environ, **given}
    gc.disable()  # until everything is there, and is looked at once
    configure_logs("warning", environ)  # for what an operator's class logs when it is imported
    with shown_as_refused(given):
        with without_unwanted():
            from service.cli import serving  # noqa: PLC0415 - without what libraries import in vain

        # Nothing is hidden here: users from a database, and classes of the operator, are imported.
        configuration = serving.load(file, environ)

    if configuration.store.url.startswith("memory:"):
        with without_unwanted():
            import_module("fakeredis")
    configure_logs(log_level, environ)
    serving.run(configuration, environ, flags=flags_of(given), watch=watch)
