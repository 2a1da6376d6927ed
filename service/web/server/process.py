"""The life of a serving process: start, serve, reload, drain, stop."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Future
from socket import socket
from threading import Thread
from time import monotonic

import msgspec
import structlog
from aiohttp import web

from service.config.reading.files import FilesRead
from service.web.server.accepting import ServerTls
from service.web.server.connections import CONNECTIONS
from service.web.server.server import Runner

log = structlog.stdlib.get_logger(__name__)

STOPS = frozenset({signal.SIGTERM, signal.SIGINT, signal.SIGQUIT})
SIGNALS = STOPS | {signal.SIGHUP}

TO_CLOSE = 2
"""Seconds beyond the grace in which connections are closed, counts settled and traces sent."""

COLLECTED_AFTER = 10_000
"""Objects, and not the 700 that a few requests under way make; a thirtieth of a request's time."""

WATCH_INTERVAL = 0.5
"""Seconds between two looks at watched files."""

REST = 50
"""How many times as long as a look the pause after it is at least, where there are thousands of files."""


class Listening(msgspec.Struct, frozen=True):
    """An application and the sockets where it is reached."""

    app: web.Application
    sockets: Sequence[tuple[socket, ServerTls | None]]


class Process(msgspec.Struct, frozen=True, kw_only=True):
    """Serves until a signal says otherwise: SIGTERM drains, SIGINT stops at once, SIGHUP reloads."""

    listening: Sequence[Listening]
    draining: asyncio.Event
    reload: Callable[[], bool]
    """Reads the registry and the files of TLS again, and returns whether they are in force; it may block."""
    grace: float
    """Seconds in which everything that runs has to end after SIGTERM."""
    linger: float
    """How many of these it serves on as before, while load balancers notice."""
    prepare: Callable[[], None]
    """Does once what requests would otherwise wait for; it may block."""
    watched: Callable[[], FilesRead] | None = None
    """Returns the files that were read the last time, if a change of them is to cause a reload."""

    async def run(self, ready: Callable[[], Awaitable[None]]) -> None:
        """Serve; `ready` is called once all sockets are served."""
        loop, demanded = asyncio.get_running_loop(), asyncio.Event()
        loop.add_signal_handler(signal.SIGHUP, demanded.set)
        stopped = _stop_signal(loop)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, SIGNALS)  # what the supervisor held back
        reloading = loop.create_task(self._reload_on_demand(demanded))
        runners = [await self._serve(each) for each in self.listening]
        gc.freeze()  # what is there now stays; to look for garbage in it would take a tenth of the start, and find little
        gc.set_threshold(COLLECTED_AFTER)
        gc.enable()
        await ready()
        Thread(target=self.prepare, name="prepare", daemon=True).start()
        in_peace = await stopped
        reloading.cancel()
        await self._drain(runners, linger=self.linger if in_peace else 0)

    async def _serve(self, listening: Listening) -> Runner:
        runner = Runner(listening.app, shutdown_timeout=self.grace)
        await runner.setup()
        for each, tls in listening.sockets:
            await runner.listen(each, tls)
        return runner

    async def _drain(self, runners: Sequence[Runner], *, linger: float) -> None:
        """Serve on until the load balancers have noticed, then finish what runs, within the grace."""
        self.draining.set()
        for each in self.listening:
            each.app[CONNECTIONS].begin_to_drain()
        log.info("draining", seconds=self.grace)
        try:
            async with asyncio.timeout(self.grace):
                await asyncio.sleep(linger)
                for runner in runners:
                    await runner.finish()
                for runner in runners:
                    await runner.cleanup()
        except TimeoutError:
            log.warning("the grace is over: requests that still ran are cut off")
            await _cut_off(runners)
        log.info("stopped")

    async def _reload_on_demand(self, demanded: asyncio.Event) -> None:
        """Reload at SIGHUP, and whenever a watched file has changed; one after the other."""
        async with asyncio.TaskGroup() as tasks:
            if self.watched is not None:
                tasks.create_task(_watch(self.watched, demanded))
            while await demanded.wait():
                demanded.clear()
                try:
                    await _in_own_thread(self.reload)
                except Exception:
                    log.exception("the reload failed; what was in force stays")


async def _in_own_thread(function: Callable[[], bool]) -> bool:
    """Call it in a thread that, unlike those of `asyncio.to_thread`, the end of the process does not wait for."""
    answer: Future[bool] = Future()
    answer.set_running_or_notify_cancel()  # from here on it cannot be cancelled under the thread's hands

    def call() -> None:
        try:
            answer.set_result(function())
        except BaseException as error:  # noqa: BLE001 - raised where the answer is awaited
            answer.set_exception(error)

    Thread(target=call, name="reload", daemon=True).start()
    return await asyncio.wrap_future(answer)


def _stop_signal(loop: asyncio.AbstractEventLoop) -> asyncio.Future[bool]:
    """Return a future that a signal to stop resolves to whether there is time."""
    stopped: asyncio.Future[bool] = loop.create_future()

    def stop(number: signal.Signals) -> None:
        if not stopped.done():
            stopped.set_result(number is signal.SIGTERM)

    for each in STOPS:
        loop.add_signal_handler(each, stop, each)
    return stopped


async def _cut_off(runners: Sequence[Runner]) -> None:
    """End what still runs, but close all connections."""
    try:
        async with asyncio.timeout(TO_CLOSE):
            for runner in runners:
                await runner.cut_off()
    except TimeoutError:
        log.warning("not every connection could be closed")


async def _watch(files_read: Callable[[], FilesRead], demanded: asyncio.Event) -> None:
    """Demand a reload for every change that has rested for one interval, so that no half-written file is read.

    Files are compared with what the last reading saw, whether it was refused or not, so that no change is missed.
    They are polled: a mounted ConfigMap changes by a swap of the link `..data`, which the file's own path leads
    through, and some file systems notify of nothing.
    """
    before = reported = None
    took = 0.0
    while True:
        await asyncio.sleep(max(WATCH_INTERVAL, REST * took))
        read, began = files_read(), monotonic()
        now = await asyncio.to_thread(read.now)
        took = monotonic() - began
        if now == before and now != reported and read.differ_from(now):
            reported = now
            demanded.set()
        before = now
