"""Joins the composed service to its sockets: the same for a process of its own and for a worker among several."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from socket import socket

import click
import structlog
import uvloop
from jinja2 import TemplateError

from service.app import Service, create_app
from service.cli.settings import Refused
from service.config.configuration import Configuration
from service.config.load import load
from service.config.problem import CannotServe, ConfigError, Finding
from service.config.schema.server import Server
from service.keys.key_files import KeyFileError
from service.observe.tracing import CannotTrace, open_tracing, wanted_exporters
from service.server.process import Listening, Process
from service.server.tls import ServerTls
from service.start_rules import START_RULES
from service.store.keyvalue import KeyValue

UNBUILT = (CannotTrace, KeyFileError, TemplateError, OSError)
"""What the operator can mend: exporters, and files that have changed since they were judged."""

LINGER = 5
"""Seconds at most for which a stopping process serves on, where nothing is configured."""

log = structlog.stdlib.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """What is to be served, and how."""

    configuration: Configuration
    environ: Mapping[str, str]
    """With the flags in it, so that a reload reads what the start has read."""
    watch: bool
    made: tuple[Service, ServerTls | None] | None = None
    """What was built before this process was forked."""

    def before_forks(self) -> Serving:
        """The same with everything built, which each of the processes to come then need not build anew.

        What is made and read before the forks is in their common memory: that makes each of two
        workers smaller by 4 MiB. Spans name the process that they come from, so it makes its own.
        """
        made = self.make()
        return self if wanted_exporters(self.environ) else replace(self, made=made)

    def make(self) -> tuple[Service, ServerTls | None]:
        """Build everything; what cannot be built is said as a problem of the configuration is."""
        tls = self.configuration.server.tls
        try:
            spans = open_tracing(self.environ, issuer=self.configuration.issuer)
            service = create_app(self.configuration, environ=self.environ, spans=spans)
            return service, ServerTls(tls) if tls else None
        except CannotServe as error:
            problem = self.configuration.landmarks.problem(error.finding)
            raise Refused([problem]) from error
        except UNBUILT as error:
            raise click.ClickException(f"{type(error).__name__}: {error}") from error

    def with_present_registry(self) -> Serving:
        """The same with the registry that the file holds now, or as it is where that cannot be served."""
        try:
            catalogue = self.configuration.catalogue
            read = load(self.configuration.file, self.environ, catalogue, START_RULES)
            configuration = replace(self.configuration, registry=read.registry, files=read.files)
            return replace(self, configuration=configuration).before_forks()
        except (ConfigError, click.ClickException):
            return self  # whoever reloads says what is wrong

    def run(self, sockets: Sequence[socket]) -> None:
        """Serve in this process until told to stop; the first socket is the public one, a second the operators'."""
        uvloop.run(self.serve(sockets, announce=True))

    async def serve(
        self,
        sockets: Sequence[socket],
        *,
        announce: bool,
        ready: Callable[[], None] = lambda: None,
    ) -> None:
        """Serve in this event loop; `announce` in one of several workers only."""
        service, tls = self.made or self.make()
        listening = [Listening(service.app, sockets[:1], tls)]
        if service.management is not None:
            listening.append(Listening(service.management, sockets[1:]))
        process = Process(
            listening=listening,
            draining=service.draining,
            reload=partial(service.parts.shared.registry.reload, partial(_check, tls)),
            grace=self.configuration.server.shutdown_grace,
            linger=_linger(self.configuration.server),
            watched=(lambda: service.parts.shared.registry.files) if self.watch else None,
        )

        async def started() -> None:
            ready()
            if announce:
                click.echo(f"listening on {_url(sockets[0], secure=tls is not None)}", err=True)
                await _warn_of_eviction(service.parts.shared.kv)

        await process.run(started)


def _linger(server: Server) -> float:
    """For how long to serve on after SIGTERM: as configured, or a part of the grace."""
    if server.shutdown_linger is not None:
        return server.shutdown_linger
    return min(LINGER, server.shutdown_grace / 4)


def _check(tls: ServerTls | None) -> None:
    """CannotServe where certificate and key, as the files are now, are no pair."""
    try:
        if tls is not None:
            tls.check()
    except OSError as error:
        message = f"the files do not work together: {error.strerror or type(error).__name__}"
        raise CannotServe(Finding(("server", "tls"), message)) from error


def _url(listening: socket, *, secure: bool) -> str:
    host, port = listening.getsockname()[:2]
    return f"{'https' if secure else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


async def _warn_of_eviction(kv: KeyValue) -> None:
    policy = await kv.eviction_policy()
    if policy not in (None, "noeviction"):
        log.warning(
            "Redis may evict what is not expired, and with it tokens and signing keys; "
            "set its maxmemory-policy to noeviction",
            maxmemory_policy=policy,
        )
