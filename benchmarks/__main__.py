"""`python -m benchmarks`: the table of requests per CPU-second, medians of interleaved rounds."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
import tempfile
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from benchmarks.load import Requests, drive
from benchmarks.machine import OTHERS_CPU, SERVER_CPU, Running, free_port, started
from benchmarks.table import FLOOR, SERVICE, Measured, Table
from benchmarks.works import WORKS, Work
from service.config.load import load
from service.parts import Parts

CONFIGURATION = Path(__file__).with_name("service.yaml")
PER_SECOND = 12_000
"""More than can be served of what each request uses up."""


def main() -> None:
    """Measure every work and its floor in turns, and print what came out."""
    arguments = _arguments()
    works = [work for work in WORKS if not arguments.only or arguments.only in work.name]
    redis_port, service_port, floor_port = free_port(), free_port(), free_port()
    redis_url = f"redis://127.0.0.1:{redis_port}"
    environ = {"SERVICE_STORE_URL": redis_url}
    redis = ["redis-server", "--port", str(redis_port), "--save", "", "--appendonly", "no"]
    service = [sys.executable, "-m", "service", "serve", "--config", str(CONFIGURATION)]
    service += ["--port", str(service_port)]
    floor = [sys.executable, "-m", "benchmarks.floor", str(floor_port), redis_url]
    with ExitStack() as stack:
        stack.enter_context(started(redis, cpu=OTHERS_CPU, port=redis_port))
        servers = {
            SERVICE: (
                stack.enter_context(
                    started(service, cpu=SERVER_CPU, port=service_port, environ=environ)
                ),
                service_port,
            ),
            FLOOR: (
                stack.enter_context(started(floor, cpu=SERVER_CPU, port=floor_port)),
                floor_port,
            ),
        }
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        table = Table(works)
        for _ in range(arguments.rounds):
            for work in works:
                requests = asyncio.run(_prepare(work, environ, folder, arguments.seconds))
                for name, (running, port) in servers.items():
                    asked = (
                        requests if name == SERVICE else replace(requests, path=f"/{work.floor}")
                    )
                    table.add(work, name, _measure(running, port, asked, arguments))
        sys.stdout.write(table.text(memory=servers[SERVICE][0].memory) + "\n")
    if arguments.json:
        arguments.json.write_text(json.dumps(table.rows(), indent=2))


def _measure(
    running: Running, port: int, requests: Requests, arguments: argparse.Namespace
) -> Measured:
    before = running.cpu_seconds
    sample = drive(port, requests, connections=arguments.connections, seconds=arguments.seconds)
    return Measured(sample, running.cpu_seconds - before)


async def _prepare(work: Work, environ: dict[str, str], folder: Path, seconds: int) -> Requests:
    parts = Parts(load(CONFIGURATION, environ), environ)
    await parts.key_source.start()
    try:
        return await work.prepare(parts, folder, PER_SECOND * seconds if work.once else 0)
    finally:
        await parts.kv.close()


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3, help="of each work in each round")
    parser.add_argument("--connections", type=int, default=32)
    parser.add_argument("--only", help="works whose name holds this")
    parser.add_argument("--json", type=Path, help="write the medians there, too")
    return parser.parse_args()


if __name__ == "__main__":
    main()
