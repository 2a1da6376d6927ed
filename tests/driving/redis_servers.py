"""Real Redis servers of the tests' own, to be started, stopped and killed."""

from __future__ import annotations

import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

SECONDS = 30
"""How long one may take to start or to end."""


@dataclass
class RedisServer:
    """A real Redis of a test's own, to be started and stopped."""

    folder: Path
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        return f"unix://{self.folder}/redis.sock"

    def start(self, *flags: str) -> None:
        socket = self.folder / "redis.sock"
        command = ["redis-server", "--port", "0", "--unixsocket", str(socket), "--save", "", *flags]
        self._process = subprocess.Popen(command, cwd=self.folder, stdout=subprocess.DEVNULL)
        while not socket.exists():
            assert self._process.poll() is None
            time.sleep(0.01)

    def stop(self) -> None:
        if self._process is not None:
            self._process.terminate()
            self._process.wait(SECONDS)
            self._process = None
