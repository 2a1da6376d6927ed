"""`serve`: runs the service."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

import click
import structlog

from service.cli.settings import file_option, load_settings, store_option
from service.config.configuration import Configuration
from service.observe.logs import FORMAT, FORMATS, LEVELS, configure_logs
from service.start_rules import START_RULES

HTTP_PORT = 80
"""Where http goes that names no port (RFC 9110 §4.2.1)."""

log = structlog.stdlib.get_logger(__name__)


@click.command("serve")
@file_option
@click.option("--host", "SERVICE_HOST", help="The IP address or host name to listen on.")
@click.option(
    "--port",
    "SERVICE_PORT",
    type=click.IntRange(0, 65535),
    help="The port to listen on; 0 is any free port.",
)
@click.option(
    "--workers",
    "SERVICE_WORKERS",
    metavar="N|auto",
    help="How many processes serve; auto is one per CPU core.",
)
@store_option
@click.option(
    "--watch", is_flag=True, help="Reload whenever a configuration file changes, as SIGHUP does."
)
@click.option(
    "--log-level",
    envvar="SERVICE_LOG_LEVEL",
    type=click.Choice(LEVELS, case_sensitive=False),
    default="info",
    show_default=True,
    show_envvar=True,
    help="The lowest level that is logged.",
)
@click.option(
    "--log-format",
    FORMAT,
    envvar=FORMAT,
    type=click.Choice(FORMATS, case_sensitive=False),
    default="auto",
    show_default=True,
    show_envvar=True,
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
      python -m service serve --store redis://localhost:6379 --workers auto
    """
    given = {variable: str(value) for variable, value in flags.items() if value is not None}
    configuration = load_settings(file, given, rules=START_RULES)
    environ = {**os.environ, **given}
    configure_logs(log_level, environ)
    _warn(configuration)
    from service.cli.serving import Serving, listen  # noqa: PLC0415 - the whole service, which no other command needs

    serving = Serving(configuration=configuration, environ=environ, watch=watch)
    places = listen(configuration.server)
    if len(places) == 1:
        serving.run(places[0])
    else:
        from service.cli.workers import run_workers  # noqa: PLC0415 - gunicorn, which one process does not need

        run_workers(serving, places)


def _warn(configuration: Configuration) -> None:
    for problem in configuration.warnings:
        log.warning("configuration", problem=str(problem))
    if configuration.store.url.startswith("memory:"):
        log.warning("memory:// is for trying out: tokens, sessions and keys end with this process")
    issuer, port = urlsplit(configuration.issuer), configuration.server.port
    if issuer.scheme == "http" and (issuer.port or HTTP_PORT) != port:
        log.warning(
            "the issuer names another port than the service listens on; every published URL "
            "begins with the issuer",
            issuer=configuration.issuer,
            port=port,
        )
