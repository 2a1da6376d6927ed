"""The service as its operator has it: a process of its own, its output, and its signals."""

from __future__ import annotations

import base64
import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from socket import create_server

import httpx2
import pytest

SECONDS = 30
"""How long anything here may take at most."""

CONFIG = """
issuer: http://localhost:8080
server:
  shutdown_grace: 2s
api_resources:
  - name: api1
clients:
  - client_id: machine
    client_secrets: [{value: machine-secret-of-32-characters}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [api1]
"""
MACHINE = ("machine", "machine-secret-of-32-characters")
ANOTHER_CLIENT = """
  - client_id: another
    client_secrets: [{value: another-secret-of-32-characters}]
    allowed_grant_types: [client_credentials]
    allowed_scopes: [api1]
"""


@dataclass
class Program:
    """`python -m service serve`, started; the lines that it writes are kept."""

    process: subprocess.Popen[str]
    lines: list[str] = field(default_factory=list)
    _unread: queue.Queue[str | None] = field(default_factory=queue.Queue)

    def __post_init__(self) -> None:
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stderr is not None
        for line in self.process.stderr:
            self._unread.put(line.rstrip("\n"))
        self._unread.put(None)

    def wait_for(self, text: str) -> str:
        """The next line with a text in it."""
        deadline = time.monotonic() + SECONDS
        while True:
            line = self._unread.get(timeout=max(deadline - time.monotonic(), 0.01))
            assert line is not None, f"ended without {text!r}:\n" + "\n".join(self.lines)
            self.lines.append(line)
            if text in line:
                return line

    def url(self) -> str:
        return self.wait_for("listening on").removeprefix("listening on ")

    def event(self, name: str) -> dict[str, object]:
        """The next event of that name."""
        event: dict[str, object] = json.loads(self.wait_for(f'"event":"{name}"'))
        return event

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        return self.process.wait(SECONDS)


@pytest.fixture
def config_file(tmp_path: Path) -> Path:
    """A configuration file, to be edited."""
    path = tmp_path / "config.yaml"
    path.write_text(CONFIG)
    return path


Serve = Callable[..., Program]


@pytest.fixture
def serve(config_file: Path) -> Iterator[Serve]:
    """Starts the program on a free port; it is stopped at the end."""
    with ExitStack() as programs:
        yield lambda *flags, **environ: programs.enter_context(
            _serving(config_file, flags, environ)
        )


@contextmanager
def _serving(config_file: Path, flags: Sequence[str], environ: dict[str, str]) -> Iterator[Program]:
    port = () if "--port" in flags else ("--port", "0")
    command = [
        sys.executable,
        "-m",
        "service",
        "serve",
        "--config",
        str(config_file),
        *port,
        *flags,
    ]
    process = subprocess.Popen(
        command,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(config_file.parent), **environ},
        start_new_session=True,
    )
    program = Program(process)
    try:
        yield program
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(SECONDS)
        if process.stderr is not None:
            process.stderr.close()


@pytest.fixture
def free_port() -> int:
    with create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
    return port


def token_from(url: str, client: tuple[str, str] = MACHINE) -> httpx2.Response:
    """Ask for a token of a machine's own."""
    return httpx2.post(
        f"{url}/connect/token", data={"grant_type": "client_credentials"}, auth=client
    )


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


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RedisServer]:
    """Not started yet."""
    server = RedisServer(tmp_path)
    yield server
    server.stop()


@pytest.fixture
def on_redis(config_file: Path, redis: RedisServer) -> RedisServer:
    """The configuration names the Redis, and what that needs."""
    key = base64.urlsafe_b64encode(bytes(32)).decode()
    store = f"store: {{url: '{redis.url}', unready_after: 1s}}"
    config_file.write_text(f"{CONFIG}\n{store}\nsigning: {{encryption_key: {key}}}\n")
    return redis


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
