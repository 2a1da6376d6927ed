"""`python -m benchmarks`: the table of requests per CPU-second, medians of interleaved rounds."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

from benchmarks import peer
from benchmarks.load import Requests, drive
from benchmarks.machine import OTHERS_CPU, SERVER_CPU, Running, free_port, started
from benchmarks.table import FLOOR, PEER, SERVICE, Measured, Table
from benchmarks.works import WORKS, Work
from service.config.load import load
from service.parts import Parts

CONFIGURATION = Path(__file__).with_name("service.yaml")
PER_SECOND = {SERVICE: 12_000, PEER: 6_000}
"""More than can be served of what each request uses up."""


@dataclass(frozen=True, slots=True)
class Server:
    """One of those that take turns."""

    running: Running
    port: int


def main() -> None:
    """Measure every work at every server in turns, and print what came out."""
    arguments = _arguments()
    works = [work for work in WORKS if not arguments.only or arguments.only in work.name]
    table = Table(works)
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        redis_url = _redis(stack)
        servers = _servers(stack, redis_url, with_peer=arguments.peers)
        for _ in range(arguments.rounds):
            for work in works:
                for name, requests in _asked(work, redis_url, folder, servers, arguments).items():
                    table.add(work, name, _measure(servers[name], requests, arguments))
        memory = {name: server.running.memory / 2**20 for name, server in servers.items()}
    sys.stdout.write(f"{table.text()}\n{arguments.rounds} rounds in turns, medians; memory: ")
    sys.stdout.write(", ".join(f"{name} {mib:.0f} MiB" for name, mib in memory.items()) + "\n")
    if arguments.json:
        arguments.json.write_text(json.dumps({"works": table.as_json(), "mib": memory}, indent=2))
    if arguments.check and (missed := table.missed()):
        sys.exit(f"below the bar by more than the noise: {', '.join(missed)}")


def _redis(stack: ExitStack) -> str:
    """The URL of a Redis of the benchmark's own, for all servers."""
    port = free_port()
    command = ["redis-server", "--port", str(port), "--save", "", "--appendonly", "no"]
    stack.enter_context(started(command, cpu=OTHERS_CPU, port=port))
    return f"redis://127.0.0.1:{port}"


def _servers(stack: ExitStack, redis_url: str, *, with_peer: bool) -> dict[str, Server]:
    """Start them all on the same CPU, where they take turns."""
    serve = [sys.executable, "-m", "service", "serve", "--config", str(CONFIGURATION), "--port"]
    commands: dict[str, Callable[[int], list[str]]] = {
        SERVICE: lambda port: [*serve, str(port)],
        FLOOR: lambda port: [sys.executable, "-m", "benchmarks.floor", str(port), redis_url],
    }
    if with_peer:
        commands[PEER] = lambda port: peer.command(port, redis_url)
    environ = {"SERVICE_STORE_URL": redis_url, "NODE_ENV": "production"}
    servers: dict[str, Server] = {}
    for name, command in commands.items():
        port = free_port()
        running = started(command(port), cpu=SERVER_CPU, port=port, environ=environ)
        servers[name] = Server(stack.enter_context(running), port)
    return servers


def _asked(
    work: Work,
    redis_url: str,
    folder: Path,
    servers: Mapping[str, Server],
    arguments: argparse.Namespace,
) -> dict[str, Requests]:
    """What each server is asked in this work; the floor the same as the service."""
    ours = asyncio.run(_prepare(work, redis_url, folder, arguments.seconds))
    asked = {SERVICE: ours, FLOOR: replace(ours, path=f"/{work.floor}")}
    if PEER in servers and work.floor in peer.WORKS:
        most = PER_SECOND[PEER] * arguments.seconds
        asked[PEER] = peer.WORKS[work.floor](servers[PEER].port, folder, most)
    return asked


async def _prepare(work: Work, redis_url: str, folder: Path, seconds: int) -> Requests:
    environ = {"SERVICE_STORE_URL": redis_url}
    parts = Parts(load(CONFIGURATION, environ), environ)
    await parts.key_source.start()
    try:
        return await work.prepare(parts, folder, PER_SECOND[SERVICE] * seconds if work.once else 0)
    finally:
        await parts.kv.close()


def _measure(server: Server, requests: Requests, arguments: argparse.Namespace) -> Measured:
    before = server.running.cpu_seconds
    sample = drive(
        server.port, requests, connections=arguments.connections, seconds=arguments.seconds
    )
    return Measured(sample, server.running.cpu_seconds - before)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3, help="of each work in each round")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--only", help="works whose name holds this")
    parser.add_argument("--peers", action="store_true", help="node-oidc-provider, too")
    parser.add_argument("--json", type=Path, help="write the medians there, too")
    parser.add_argument("--check", action="store_true", help="fail where a bar is missed")
    return parser.parse_args()


if __name__ == "__main__":
    main()
