"""The service as a process of this run's own, and the free ports of everybody."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from socket import create_server
from urllib.parse import urlsplit

REPOSITORY = Path(__file__).parents[2]
CONFIG = REPOSITORY / "tests/interop/config.yaml"
PATIENCE = 60


def free_origins(*names: str) -> dict[str, str]:
    """A loopback origin with a free port for each name."""
    listening = [create_server(("127.0.0.1", 0)) for _ in names]
    origins = [f"http://localhost:{one.getsockname()[1]}" for one in listening]
    for one in listening:
        one.close()
    return dict(zip(names, origins, strict=True))


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
