"""Serves a configuration, in a single process or as one worker among several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from errno import EADDRINUSE
from functools import partial
from itertools import islice
from pathlib import Path
from socket import socket
from urllib.parse import urlsplit

import click
import msgspec
import structlog
import uvloop
from msgspec.structs import replace

from service.app import Service, create_app
from service.cli import apart
from service.cli.settings import Refused, name_flags, redirect_prints_of_plugins
from service.config.configuration import Configuration
from service.config.problem import CannotServe, ConfigError, Finding
from service.keys.schedule import KeyFileError
from service.observe.tracing import CannotTrace, open_tracing, wanted_exporters
from service.start.load import load_to_serve
from service.web.server.accepting import ServerTls
from service.web.server.connections import allow_many_files
from service.web.server.listening import CannotListen, find_places, listen
from service.web.server.process import Listening, Process

HTTP_PORT = 80
"""Where http goes that names no port (RFC 9110 §4.2.1)."""

LINGER = 5
"""Seconds at most for which a stopping process serves on, where nothing is configured."""

log = structlog.stdlib.get_logger(__name__)

Sockets = tuple[socket, ...]
"""The sockets of one worker: of the public port, and of those for certificates and operators where they are separate."""
TlsByPort = Mapping[str, ServerTls]
"""The certificates by the name of the port; one that is not there has no TLS."""


def load(file: Path, environ: Mapping[str, str]) -> Configuration:
    """Load the configuration that is to be served; raise ConfigError with every problem."""
    with redirect_prints_of_plugins():
        return load_to_serve(file, environ)


def run(
    configuration: Configuration,
    environ: Mapping[str, str],
    *,
    flags: Mapping[str, str],
    watch: bool,
) -> None:
    """Serve until a signal stops it; raise a ClickException if that cannot begin."""
    _warn(configuration)
    allow_many_files()
    serving = Serving(configuration=configuration, environ=environ, flags=flags, watch=watch)
    places = _listen(configuration)
    if len(places) == 1:
        uvloop.run(serving.serve(places[0], announce=True))
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


class Serving(msgspec.Struct, frozen=True, kw_only=True):
    """A service that is about to be served."""

    configuration: Configuration
    environ: Mapping[str, str]
    """The environment with the flags in it, so that a reload reads what the start has read."""
    flags: Mapping[str, str]
    """The flags of the command by the variables that they stand for."""
    watch: bool
    made: tuple[Service, TlsByPort] | None = None
    """The service, if it was built before this process was forked."""

    def before_forks(self) -> Serving:
        """Build everything once, before the worker processes are forked.

        They share the memory: that makes each of two workers smaller by 4 MiB, and by 7 with the
        pages. Spans name their process, so with traces each worker builds its own service.
        """
        service, tls = self.make()
        if wanted_exporters(self.environ):
            return self
        service.compile_pages()
        return msgspec.structs.replace(self, made=(service, tls))

    def make(self) -> tuple[Service, TlsByPort]:
        """Build everything; show what cannot be built as a problem of the configuration."""
        try:
            spans = open_tracing(self.environ, issuer=self.configuration.issuer)
            service = create_app(
                self.configuration, environ=self.environ, spans=spans, read=self.read
            )
            return service, _read_tls(self.configuration)
        except CannotServe as error:
            problem = self.configuration.problem(error.finding)
            raise Refused([problem]) from error
        except (CannotTrace, KeyFileError, OSError) as error:
            # the operator can correct these: exporters, and files changed since they were checked
            raise click.ClickException(f"{type(error).__name__}: {error}") from error

    def read(self) -> Configuration:
        """Read the configuration again; raise ConfigError with every problem."""
        try:
            return apart.read(self.configuration.file, self.environ)
        except ConfigError as error:
            raise ConfigError(name_flags(error.problems, self.flags), error.files) from error

    def with_present_registry(self) -> Serving:
        """Return the same with the registry that the file holds now; unchanged if that cannot be served."""
        try:
            read = self.read()
            configuration = replace(self.configuration, registry=read.registry, files=read.files)
            # What was made before would stay, because the service keeps `read` and with it all that is made here.
            present = msgspec.structs.replace(self, configuration=configuration, made=None)
            return present.before_forks()
        except (ConfigError, click.ClickException):
            return self  # the reload itself reports what is wrong

    async def serve(
        self, sockets: Sequence[socket], *, announce: bool, ready: Callable[[], None] = lambda: None
    ) -> None:
        """Serve in this event loop until a signal stops it; `announce` in one of several workers only."""
        service, tls = self.made or self.make()
        server, registry = self.configuration.server, service.features.shared.registry
        linger = server.shutdown_linger
        by_port = _by_port(sockets, self.configuration)
        apps = (
            (service.app, ("public", "mtls")),
            (service.management, ("management",)),
            (service.admin, ("admin",)),
        )
        listening = [
            Listening(
                app, [(each, tls.get(port)) for port in ports for each in by_port.get(port, ())]
            )
            for app, ports in apps
            if app is not None
        ]
        process = Process(
            listening=listening,
            draining=service.draining,
            reload=partial(registry.reload, partial(_read_again, tls)),
            grace=server.shutdown_grace,
            linger=min(LINGER, server.shutdown_grace / 4) if linger is None else linger,
            prepare=service.compile_pages,
            watched=(lambda: registry.files) if self.watch else None,
        )

        async def report_start() -> None:
            ready()
            if announce:
                for each in by_port["public"]:
                    click.echo(f"listening on {_url(each, secure='public' in tls)}", err=True)
                for each in by_port.get("admin", ()):
                    url = _url(each, secure="admin" in tls)
                    click.echo(f"the admin API is listening on {url}", err=True)

        await process.run(report_start)


def _ports(configuration: Configuration) -> Mapping[str, tuple[Sequence[str], int]]:
    """Return each port by its name, with the hosts to listen on."""
    server, admin = configuration.server, configuration.admin
    ports = {
        "public": (server.host, server.port),
        "mtls": (server.host, server.mtls_port),
        "management": (server.host, server.management_port),
        "admin": (admin.host, admin.port) if admin else ((), None),
    }
    return {name: (hosts, port) for name, (hosts, port) in ports.items() if port is not None}


def _by_port(sockets: Sequence[socket], configuration: Configuration) -> Mapping[str, Sockets]:
    """Return the sockets of each port by its name, in their order."""
    following = iter(sockets)
    return {
        name: tuple(islice(following, len(find_places(hosts))))
        for name, (hosts, _) in _ports(configuration).items()
    }


def _read_tls(configuration: Configuration) -> TlsByPort:
    """Read the certificates of each port that has TLS; raise OSError if the files do not work together."""
    server, admin = configuration.server, configuration.admin
    read: dict[str, ServerTls] = {}
    if server.tls:
        read["public"] = ServerTls(server.tls)
    if server.tls and server.mtls_port is not None:
        read["mtls"] = ServerTls(server.tls, asks_for_certificates=True)
    if admin and admin.tls:
        read["admin"] = ServerTls(admin.tls)
    return read


def _read_again(tls: TlsByPort) -> list[Callable[[], None]]:
    """Read the TLS files as they are now, and return what lets them count; raise CannotServe if they do not work together."""
    read: list[Callable[[], None]] = []
    for port, each in tls.items():
        try:
            read.append(each.read_again())
        except OSError as error:
            section = "admin" if port == "admin" else "server"
            message = f"the files do not work together: {error.strerror or type(error).__name__}"
            raise CannotServe(Finding((section, "tls"), message)) from error
    return read


def _url(listening: socket, *, secure: bool) -> str:
    host, port = listening.getsockname()[:2]
    return f"{'https' if secure else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def _listen(configuration: Configuration) -> list[Sockets]:
    try:
        ports = [*_ports(configuration).values()]
        return listen(ports, workers=configuration.server.workers)
    except CannotListen as error:
        remedy = "; choose another port by --port or SERVICE_PORT" * (error.number == EADDRINUSE)
        raise click.ClickException(f"{error}{remedy}") from error
