"""Processes that are pinned to a CPU, and what they have used."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SERVER_CPU, OTHERS_CPU, BOTH_CPUS = "0", "1", "0,1"
"""The server has a CPU of its own; load generator and Redis share the other one."""

PATIENCE = 20
"""Seconds until a program has to listen."""

_TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Running:
    """A process that was started here."""

    pid: int

    @property
    def cpu_seconds(self) -> float:
        """User and system time of the process and its children, those that have ended included."""
        return sum(_cpu_seconds(pid) for pid in self._family())

    @property
    def memory(self) -> int:
        """Bytes, each shared page counted in parts (PSS)."""
        return sum(_rolled_up(pid, "Pss:") for pid in self._family())

    @property
    def resident(self) -> int:
        """Bytes, each shared page counted in full (RSS)."""
        return sum(_rolled_up(pid, "Rss:") for pid in self._family())

    def _family(self) -> list[int]:
        children = Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()
        return [self.pid, *map(int, children)]


@contextmanager
def started(
    command: Sequence[str],
    *,
    cpu: str,
    port: int,
    environ: Mapping[str, str] | None = None,
    patience: float = PATIENCE,
) -> Iterator[Running]:
    """Run a program on one CPU until the end of the block; it has to listen on the port."""
    process = subprocess.Popen(
        ["taskset", "-c", cpu, *command],
        env={**_make_environment(), **(environ or {})},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait_for(port, process, patience)
        yield Running(process.pid)
    finally:
        process.terminate()
        process.wait(timeout=patience + 10)


def _make_environment() -> dict[str, str]:
    """Return this process's environment, but let Python keep bytecode: the second start of a program compiles nothing."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def free_port() -> int:
    """A loopback port that nobody uses."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port: int = listening.getsockname()[1]
        return port


def _wait_for(port: int, process: subprocess.Popen[bytes], patience: float) -> None:
    end = time.monotonic() + patience
    while time.monotonic() < end:
        if process.poll() is not None:
            raise RuntimeError(f"a program ended before it listened on port {port}")
        with socket.socket() as trying:
            if trying.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.005)
    raise RuntimeError(f"nothing listens on port {port}")


def _cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / _TICKS


def _rolled_up(pid: int, name: str) -> int:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))
