"""The service as a process of this run's own, and the free ports of everybody."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

from tests.driving.ports import lasting_ports

REPOSITORY = Path(__file__).parents[2]
CONFIG = REPOSITORY / "tests/interop/config.yaml"
PATIENCE = 60


def free_origins(*names: str) -> dict[str, str]:
    """A loopback origin for each name, with a port that stays free until it is used."""
    ports = lasting_ports(len(names))
    return {name: f"http://localhost:{port}" for name, port in zip(names, ports, strict=True)}


@contextmanager
def serving(environ: Mapping[str, str], log: Path) -> Iterator[None]:
    """The service at ISSUER, for as long as the block lasts; what it says is in the log."""
    port = str(urlsplit(environ["ISSUER"]).port)
    command = [sys.executable, "-m", "service", "serve", "--config", str(CONFIG), "--port", port]
    with log.open("wb") as said:
        process = subprocess.Popen(command, cwd=REPOSITORY, env=environ, stdout=said, stderr=said)
    try:
        _wait_for(process, log)
        yield
    finally:
        process.terminate()
        process.wait()


def _wait_for(process: subprocess.Popen[bytes], log: Path) -> None:
    """Return once it listens."""
    until = time.monotonic() + PATIENCE
    while "listening on" not in log.read_text():
        if process.poll() is not None or time.monotonic() > until:
            raise ChildProcessError(log.read_text())
        time.sleep(0.05)
