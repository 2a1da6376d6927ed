"""Starts the service and three APIs on free ports, lets the front end tell the story, and ends them all."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
SECONDS = 20
"""How long a process may take to answer."""


def main() -> int:
    """The front end's exit code."""
    ports = free_ports(4)
    issuer, api1, api2, api3 = (f"http://localhost:{port}" for port in ports)
    with ExitStack() as running:
        service = ["-m", "service", "serve", "--config", str(HERE / "config.yaml")]
        start(running, [*service, "--port", str(ports[0])], ports[0], ISSUER=issuer)
        start(running, [str(HERE / "api3.py"), issuer, str(ports[3])], ports[3])
        start(running, [str(HERE / "api2.py"), issuer, api3, str(ports[2])], ports[2])
        start(running, [str(HERE / "api1.py"), issuer, api2, str(ports[1])], ports[1])
        front_end = [sys.executable, str(HERE / "front_end.py"), issuer, api1, api2]
        return subprocess.run(front_end, check=False).returncode


def start(running: ExitStack, command: list[str], port: int, **environ: str) -> None:
    """Start a program, and wait until it listens; it is ended after the last step."""
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=REPOSITORY,
        env={**os.environ, **environ},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    running.callback(process.wait)
    running.callback(process.terminate)
    until = time.monotonic() + SECONDS
    while not listens(port):
        if process.poll() is not None or time.monotonic() > until:
            raise SystemExit(f"did not start: {' '.join(command)}")
        time.sleep(0.05)


def listens(port: int) -> bool:
    """Whether something answers on that port."""
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def free_ports(count: int) -> list[int]:
    """Ports of the loopback interface that nobody uses."""
    with ExitStack() as open_sockets:
        found = [
            open_sockets.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)
        ]
        return [one.getsockname()[1] for one in found]


if __name__ == "__main__":
    sys.exit(main())
