"""Several processes at one port, supervised by gunicorn; each serves as a single one would."""

from __future__ import annotations

import asyncio
import gc
import os
import shutil
import signal
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from socket import socket
from types import FrameType
from typing import cast

import uvloop
from gunicorn.app.base import BaseApplication
from gunicorn.arbiter import Arbiter
from gunicorn.config import Config
from gunicorn.glogging import Logger
from gunicorn.workers.base import Worker
from prometheus_client import multiprocess, values

from service.cli.serving import Serving, Sockets
from service.web.server.process import SIGNALS, STOPS

SILENCE = 60
"""Seconds without a sign of life after which a worker is replaced."""

TO_END = 5
"""Seconds beyond the grace that a worker may take to end."""

BETWEEN_REPLACEMENTS = 1
"""Seconds, so that workers that cannot start do not keep the machine busy."""


def run_workers(serving: Serving, sockets: Sequence[Sockets]) -> None:
    """Serve with as many workers as configured, each at its own sockets, until a signal stops them."""
    workers = _Workers(serving, sockets)
    gc.freeze()  # before the forks, so that the workers share what is loaded
    gc.enable()
    _Supervisor(workers).run()


class _Supervisor(Arbiter):
    """Replaces workers that die, and hands signals on."""

    _last_replacement = 0.0
    _reads = False

    def spawn_worker(self) -> int:
        """Start a worker, and hold signals back until it listens to them: they would be lost."""
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
        """Let each worker reload the registry, future ones included; gunicorn itself would start new ones."""
        app = cast("_Workers", self.app)
        with suppress(KeyboardInterrupt):
            self._reads = True
            app.serving = app.serving.with_present_registry()
            self._reads = False
            self.kill_workers(signal.SIGHUP)

    def signal(self, sig: int, frame: FrameType | None) -> None:
        """Note a signal for its turn; one to stop interrupts the reading of the configuration, which may take long."""
        super().signal(sig, frame)
        if self._reads and sig in STOPS:
            self._reads = False
            raise KeyboardInterrupt

    def _ignore(self) -> None:
        """Ignore signals that gunicorn understands and this service does not promise."""

    handle_ttin = handle_ttou = handle_usr1 = handle_usr2 = handle_winch = _ignore


class _Workers(BaseApplication):
    """The settings that gunicorn asks for, and what the workers run.

    prometheus-client keeps the counts of all workers in the files of one folder. They are named
    after the place of a worker and not, as by default, after its process: a new worker counts on
    where the one before stopped, and workers that keep dying leave no more files.
    """

    def __init__(self, serving: Serving, sockets: Sequence[Sockets]) -> None:
        """Build the service, so that a problem is printed once and not by every worker."""
        self._sockets = sockets
        self._counter = "supervisor"
        self._metrics = tempfile.mkdtemp(prefix="token-service-metrics-")
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = self._metrics
        values.ValueClass = values.MultiProcessValue(lambda: self._counter)  # type: ignore[no-untyped-call]
        self.serving = serving.before_forks()
        super().__init__()

    def load_config(self) -> None:
        server = self.serving.configuration.server
        settings: dict[str, object] = {
            "bind": [f"fd://{each.detach()}" for place in self._sockets for each in place],
            "workers": server.workers,
            "worker_class": _Worker,
            "logger_class": _Logger,
            "timeout": SILENCE,
            "graceful_timeout": server.shutdown_grace + TO_END,
            "control_socket_disable": True,
            "pre_fork": self._assign_place,
            "post_fork": self._settle,
            "child_exit": self._forget_state,
            "on_exit": self._remove_metrics,
        }
        for name, value in settings.items():
            self.cfg.set(name, value)

    def _assign_place(self, supervisor: Arbiter, worker: Worker) -> None:
        """Let a worker listen where none does; connections that a dead one left unanswered wait there."""
        listening = _sockets_of(supervisor)
        size = len(listening) // supervisor.num_workers
        taken = {cast("_Worker", each).place for each in supervisor.WORKERS.values()}
        place = next(each for each in range(supervisor.num_workers) if each not in taken)
        cast("_Worker", worker).place = place
        worker.sockets = listening[place * size : (place + 1) * size]

    def _settle(self, supervisor: Arbiter, worker: Worker) -> None:
        """Close the sockets of other places: connections at sockets held open here would wait for ever."""
        self._counter = str(cast("_Worker", worker).place)
        for each in _sockets_of(supervisor):
            if each not in worker.sockets:
                each.close()

    def _forget_state(self, _supervisor: Arbiter, worker: Worker) -> None:
        """Keep the counts of a worker that has ended, and not its gauges."""
        place = cast("_Worker", worker).place
        multiprocess.mark_process_dead(place, self._metrics)  # type: ignore[no-untyped-call]

    def _remove_metrics(self, _supervisor: Arbiter) -> None:
        shutil.rmtree(self._metrics, ignore_errors=True)


def _sockets_of(supervisor: Arbiter) -> list[socket]:
    return cast("list[socket]", supervisor.LISTENERS)  # gunicorn's wrappers of them


class _Worker(Worker):
    """One process among several."""

    place: int
    """The worker's number among those at the port; no other living worker has the same."""

    def init_signals(self) -> None:
        """Forget the supervisor's handlers; the serving process sets its own, and then gets what was held back."""
        for each in self.SIGNALS:
            signal.signal(each, signal.SIG_DFL)

    def load_wsgi(self) -> None:
        """Load no application: each worker makes its own in its event loop."""

    def run(self) -> None:
        # If one of the first fails to start, gunicorn gives up; a later one must not stop the others.
        self.booted = self.age > self.cfg.workers
        uvloop.run(self._serve())

    async def _serve(self) -> None:
        alive = asyncio.create_task(self._show_life())
        sockets = [socket(fileno=each.detach()) for each in self.sockets]
        serving = cast("_Workers", self.app).serving
        if serving.watch:
            serving = serving.with_present_registry()
        await serving.serve(sockets, announce=self.age == 1, ready=self._note_boot)
        alive.cancel()

    def _note_boot(self) -> None:
        self.booted = True

    async def _show_life(self) -> None:
        while True:
            self.notify()
            if os.getppid() != self.ppid:  # the supervisor has died and cannot stop this worker
                os.kill(os.getpid(), signal.SIGTERM)
            await asyncio.sleep(1)


class _Logger(Logger):
    """Hands gunicorn's own lines to the log of the service."""

    def setup(self, cfg: Config) -> None:
        self.cfg = cfg
        self.error_log.propagate = True
