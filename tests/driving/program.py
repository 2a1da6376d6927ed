"""The service as its operator has it: a process of its own, its output, and its signals."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

SECONDS = 30
"""How long anything here may take at most."""


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


@contextmanager
def program_running(
    config_file: Path, flags: Sequence[str], environ: dict[str, str]
) -> Iterator[Program]:
    """`serve` with these flags and this environment, on a free port where no flag names one."""
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


def eventually(holds: Callable[[], bool]) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
