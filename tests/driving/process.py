"""The service as a process of its own on a free port, from a configuration file of the repository."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server

DEMONSTRATION = "localhost:8080"
"""Where config.yaml says that the service is."""


@contextmanager
def serving(config: Path, folder: Path) -> Iterator[str]:
    """The `host:port` of the service with this configuration, in which the port is replaced."""
    with create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    address = f"localhost:{port}"
    copy = folder / config.name
    copy.write_text(config.read_text().replace(DEMONSTRATION, address))
    process = subprocess.Popen(
        [sys.executable, "-m", "service", "serve", "--config", str(copy), "--port", str(port)],
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process.stderr:
        started = next((line for line in process.stderr if "listening on" in line), None)
        try:
            assert started is not None, "the service did not start"
            yield address
        finally:
            process.kill()
            process.wait(30)
