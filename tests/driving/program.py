"""The service as its operator has it: a process of its own, its output, and its signals."""

from __future__ import annotations

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.driving.forked import ForkedProcess, may_be_forked

SECONDS = 120
"""How long anything here may take at most."""
SERVICE = [sys.executable, "-m", "service"]


class Program:
    """`python -m service serve`, started; the lines that it writes are kept.

    It is forked from a process that has imported the service. `serving` in process.py starts the interpreter
    for it, and so does this class for any other command and for variables that the interpreter reads.
    """

    def __init__(self, command: Sequence[str], environ: dict[str, str]) -> None:
        self.command = command
        self.environ = environ
        self.lines: list[str] = []
        self.start()

    def start(self) -> None:
        """Start it, or once more after it has ended."""
        environ = {**os.environ, **self.environ}
        self.process: subprocess.Popen[str] | ForkedProcess = (
            ForkedProcess(self.command[len(SERVICE) :], environ)
            if self.command[: len(SERVICE)] == SERVICE and may_be_forked(self.environ)
            else subprocess.Popen(
                self.command,
                stderr=subprocess.PIPE,
                text=True,
                env=environ,
                start_new_session=True,
            )
        )
        self._unread: queue.Queue[str | None] = queue.Queue()
        reading = threading.Thread(target=_read, args=(self.process, self._unread), daemon=True)
        reading.start()

    def wait_for(self, text: str) -> str:
        """The next line with a text in it."""
        deadline = time.monotonic() + SECONDS
        while True:
            line = self._unread.get(timeout=max(deadline - time.monotonic(), 0.01))
            assert line is not None, f"ended without {text!r}:\n" + "\n".join(self.lines)
            self.lines.append(line)
            if text in line:
                return line

    def rest(self) -> list[str]:
        """The lines that nobody has waited for."""
        unread: list[str] = []
        while not self._unread.empty():
            if (line := self._unread.get()) is not None:
                unread.append(line)
        self.lines += unread
        return unread

    def url(self) -> str:
        """The address that it listens at, once it does."""
        return self.wait_for("listening on").removeprefix("listening on ")

    def event(self, name: str) -> dict[str, object]:
        """The next event of that name."""
        event: dict[str, object] = json.loads(self.wait_for(f'"event":"{name}"'))
        return event

    def send(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def ended(self) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(SECONDS)

    def stop(self) -> int:
        """Drain it, and wait for its end."""
        self.send(signal.SIGTERM)
        return self.ended()

    def kill(self) -> None:
        """End it at once, with its workers, as a machine that breaks does."""
        if self.process.poll() is None:
            with suppress(ProcessLookupError):  # it has ended since
                os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(SECONDS)


def _read(process: subprocess.Popen[str] | ForkedProcess, lines: queue.Queue[str | None]) -> None:
    assert process.stderr is not None
    with process.stderr:
        for line in process.stderr:
            lines.put(line.rstrip("\n"))
    lines.put(None)


@contextmanager
def program_running(
    config_file: Path, flags: Sequence[str], environ: dict[str, str]
) -> Iterator[Program]:
    """`serve` with these flags and this environment, on a free port where no flag names one."""
    port = () if "--port" in flags else ("--port", "0")
    command = [*SERVICE, "serve", "--config", str(config_file)]
    program = Program([*command, *port, *flags], {"TMPDIR": str(config_file.parent), **environ})
    try:
        yield program
    finally:
        program.kill()


def wait_until_read(connection: socket.socket) -> None:
    """Wait until the service has read all that was sent on a connection over IPv4, and the system keeps nothing of it for it."""
    ends = [_as_in_proc(*connection.getpeername()), _as_in_proc(*connection.getsockname())]

    def is_read() -> bool:
        lines = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
        (waiting,) = (queues for _, here, there, _, queues, *_ in lines if [here, there] == ends)
        return waiting.endswith(":00000000")

    eventually(is_read)


def _as_in_proc(host: str, port: int) -> str:
    address = int.from_bytes(socket.inet_aton(host), sys.byteorder)
    return f"{address:08X}:{port:04X}"


def eventually(holds: Callable[[], bool], seconds: float = SECONDS) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
