"""The programs that are measured, each with the Redis of the benchmark, and what they find there."""

from __future__ import annotations

import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from benchmarks import peer
from benchmarks.machine import OTHERS_CPU, PATIENCE, SERVER_CPU, Running, free_port, started
from benchmarks.users import CONFIGURATION
from service.start.load import load
from service.wiring.features import Features
from service.wiring.shared import Shared

SERVICE, FLOOR, PEER = "service", "floor", "peer"


@dataclass(frozen=True, slots=True)
class Server:
    """A program that answers requests."""

    running: Running
    port: int


@dataclass(frozen=True, slots=True)
class Servers:
    """Starts programs that end with the stack."""

    stack: ExitStack
    below: Sequence[str] = ()
    """The program that the service and the floor run below, such as a profiler."""
    patience: float = PATIENCE
    """Seconds until a program has to listen."""

    def redis(self) -> str:
        """The URL of a new and empty Redis."""
        port = free_port()
        command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"]
        self.stack.enter_context(started(command, cpu=OTHERS_CPU, port=port))
        return f"redis://127.0.0.1:{port}"

    def service(
        self,
        redis_url: str,
        *,
        cpu: str = SERVER_CPU,
        workers: int = 1,
        configuration: Path = CONFIGURATION,
    ) -> Server:
        """The service."""
        port = free_port()
        command = [*self.below, *_serve(redis_url, port, workers, configuration)]
        return self._started(command, port, cpu=cpu)

    def floor(self, redis_url: str) -> Server:
        """The bare handlers."""
        port = free_port()
        floor = [sys.executable, "-m", "benchmarks.floor", str(port), redis_url]
        return self._started([*self.below, *floor], port)

    def peer(self, redis_url: str, *, cpu: str = SERVER_CPU, workers: int = 1) -> Server:
        """node-oidc-provider."""
        port = free_port()
        return self._started(peer.command(port, redis_url, workers), port, cpu=cpu)

    def _started(self, command: Sequence[str], port: int, *, cpu: str = SERVER_CPU) -> Server:
        environ = {"NODE_ENV": "production"}
        running = started(command, cpu=cpu, port=port, environ=environ, patience=self.patience)
        return Server(self.stack.enter_context(running), port)


def serving(
    redis_url: str,
    port: int,
    *,
    cpu: str = SERVER_CPU,
    workers: int = 1,
    configuration: Path = CONFIGURATION,
) -> AbstractContextManager[Running]:
    """The service while it runs."""
    return started(_serve(redis_url, port, workers, configuration), cpu=cpu, port=port)


def _serve(redis_url: str, port: int, workers: int, configuration: Path) -> list[str]:
    command = [sys.executable, "-m", "service", "serve", "--config", str(configuration)]
    return [*command, "--store", redis_url, "--workers", str(workers), "--port", str(port)]


@asynccontextmanager
async def features_of(
    redis_url: str, configuration: Path = CONFIGURATION
) -> AsyncGenerator[Features]:
    """The parts of a service on the same Redis, to prepare what requests need there."""
    environ = {"SERVICE_STORE_URL": redis_url}
    configured = load(configuration, environ)
    features = Features(Shared(configured, environ=environ))
    await features.key_source.start()
    try:
        yield features
    finally:
        await features.shared.close()
