"""The service as a process of its own on a free port, from a configuration file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from socket import create_server
from threading import Thread

DEMONSTRATION = "localhost:8080"
"""Where config.yaml says that the service is."""
REPOSITORY = Path(__file__).parents[2]


@contextmanager
def serving(config: str, folder: Path, *, code: Path = REPOSITORY, **environ: str) -> Iterator[str]:
    """The `host:port` of the service with this configuration, in which the port is replaced.

    Relative paths in it begin at `folder`; `code` is where the service is imported from.
    """
    with create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    address = f"localhost:{port}"
    file = folder / f"config-{port}.yaml"
    file.write_text(config.replace(DEMONSTRATION, address))
    process = subprocess.Popen(
        [sys.executable, "-m", "service", "serve", "--config", str(file), "--port", str(port)],
        cwd=code,
        env={**os.environ, **environ},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    with process.stderr:
        said: list[str] = []
        try:
            for line in process.stderr:
                said.append(line)
                if "listening on" in line:
                    break
            else:
                raise AssertionError("".join(said))
            # Nobody reads what it logs from here on, and a full pipe would stop it.
            Thread(target=process.stderr.read, daemon=True).start()
            yield address
        finally:
            process.kill()
            process.wait(30)
