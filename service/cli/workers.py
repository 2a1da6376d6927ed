"""Several processes at one port, supervised by gunicorn; each serves as a single one would."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import time
from collections.abc import Sequence
from socket import socket
from typing import cast

import uvloop
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker

from service.cli.listening import Sockets
from service.cli.serving import Serving
from service.cli.shared_metrics import SharedMetrics
from service.config.schema.server import Server
from service.server.process import SIGNALS

SILENCE = 60
"""Seconds without a sign of life after which a worker is replaced."""

TO_END = 5
"""Seconds beyond the grace that a worker may take to end."""

BETWEEN_REPLACEMENTS = 1
"""Seconds, so that workers that cannot start do not keep the machine busy."""


def run_workers(
    serving: Serving, server: Server, sockets: Sequence[Sockets], metrics: SharedMetrics
) -> None:
    """Serve with as many workers as configured, each at its own sockets, until told to stop."""
    serving = serving.before_forks()  # so what is wrong is said once, too, and not by every worker
    gc.freeze()  # before the forks, so that the workers share what is loaded
    _Supervisor(_Workers(serving, server, sockets, metrics)).run()


class _Supervisor(Arbiter):
    """Replaces workers that die, and hands signals on."""

    _last_replacement = 0.0

    def spawn_worker(self) -> int:
        """Start a worker, and hold back what it is told until it listens to signals: they would be lost."""
        held = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
        try:
            return super().spawn_worker()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, held)

    def spawn_workers(self) -> None:
        """Start all of them at first, and later one at a time."""
        if self.worker_age == 0:
            super().spawn_workers()
        elif time.monotonic() - self._last_replacement >= BETWEEN_REPLACEMENTS:
            self._last_replacement = time.monotonic()
            self.spawn_worker()

    def handle_hup(self) -> None:
        """Let each worker reload the registry, those to come included; gunicorn itself would start new ones."""
        cast("_Workers", self.app).renew()
        self.kill_workers(signal.SIGHUP)

    def _ignore(self) -> None:
        """Do nothing at signals that gunicorn understands and this service does not promise."""

    handle_ttin = handle_ttou = handle_usr1 = handle_usr2 = handle_winch = _ignore


def _take_place(supervisor: Arbiter, worker: Worker) -> None:
    """Let a worker listen where none does; connections that a dead one left unanswered wait there."""
    listening = _sockets_of(supervisor)
    size = len(listening) // supervisor.num_workers
    taken = {_place(each) for each in supervisor.WORKERS.values()}
    place = next(each for each in range(supervisor.num_workers) if each not in taken)
    cast("_Worker", worker).place = place
    worker.sockets = listening[place * size : (place + 1) * size]


def _settle(supervisor: Arbiter, worker: Worker) -> None:
    """Leave the other places: connections at sockets that were held open here would wait for ever."""
    _metrics(supervisor).count_at(_place(worker))
    for each in _sockets_of(supervisor):
        if each not in worker.sockets:
            each.close()


def _worker_ended(supervisor: Arbiter, worker: Worker) -> None:
    _metrics(supervisor).forget_state_of(_place(worker))


def _ended(supervisor: Arbiter) -> None:
    _metrics(supervisor).remove()


def _sockets_of(supervisor: Arbiter) -> list[socket]:
    return cast("list[socket]", supervisor.LISTENERS)  # gunicorn's wrappers of them


def _place(worker: Worker) -> int:
    return cast("_Worker", worker).place


def _metrics(supervisor: Arbiter) -> SharedMetrics:
    return cast("_Workers", supervisor.app).metrics


class _Workers(BaseApplication):
    """What gunicorn asks for: its settings, and what the workers run."""

    def __init__(
        self,
        serving: Serving,
        server: Server,
        sockets: Sequence[Sockets],
        metrics: SharedMetrics,
    ) -> None:
        self.serving = serving
        self.metrics = metrics
        self._settings: dict[str, object] = {
            "bind": [f"fd://{each.detach()}" for place in sockets for each in place],
            "workers": server.workers,
            "worker_class": _Worker,
            "logger_class": _Logger,
            "timeout": SILENCE,
            "graceful_timeout": server.shutdown_grace + TO_END,
            "control_socket_disable": True,
            "pre_fork": _take_place,
            "post_fork": _settle,
            "child_exit": _worker_ended,
            "on_exit": _ended,
        }
        super().__init__()

    def renew(self) -> None:
        """Give workers that start from now on the present registry."""
        self.serving = self.serving.with_present_registry()

    def load_config(self) -> None:
        for name, value in self._settings.items():
            self.cfg.set(name, value)


class _Worker(Worker):
    """One process among several."""

    place: int
    """Which of the places at the port it has; no other living worker has the same."""

    def init_signals(self) -> None:
        """Forget the supervisor's handlers; the serving process sets its own, and then hears what was held back."""
        for each in self.SIGNALS:
            signal.signal(each, signal.SIG_DFL)

    def load_wsgi(self) -> None:
        """Do nothing: what is served is made in the worker's own event loop."""

    def run(self) -> None:
        """Serve until told to stop."""
        # Where one of the first fails to start, gunicorn gives up; a later one must not take the others with it.
        self.booted = self.age > self.cfg.workers
        uvloop.run(self._serve())

    async def _serve(self) -> None:
        alive = asyncio.create_task(self._show_life())
        sockets = [socket(fileno=each.detach()) for each in self.sockets]
        serving = cast("_Workers", self.app).serving
        if serving.watch:
            serving = serving.with_present_registry()
        await serving.serve(sockets, announce=self.age == 1, ready=self._serves)
        alive.cancel()

    def _serves(self) -> None:
        self.booted = True

    async def _show_life(self) -> None:
        while True:
            self.notify()
            if os.getppid() != self.ppid:  # nobody is left who would stop it
                os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(1)


class _Logger(Logger):
    """Hands gunicorn's own lines to the log of the service."""

    def setup(self, cfg: Config) -> None:
        self.cfg = cfg
        self.error_log.propagate = True
