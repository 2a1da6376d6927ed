"""Processes of the service that begin where it is imported already, which takes longer than most tests."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import get_context
from multiprocessing.connection import Connection

_FORKING = get_context("forkserver")
_FORKING.set_forkserver_preload(["tests.driving.imported"])


class ForkedProcess:
    """The counterpart of `subprocess.Popen` for `python -m service`, of which the arguments are given."""

    def __init__(self, arguments: Sequence[str], environ: Mapping[str, str]) -> None:
        reading, writing = os.pipe()
        # Connections, because these may be handed to another process.
        stdout = Connection(os.dup(1), readable=False)
        with stdout, Connection(writing, readable=False) as stderr:
            given = (arguments, dict(environ), stdout, stderr)
            self._process = _FORKING.Process(target=_run, args=given)
            self._process.start()
        assert self._process.pid is not None
        self.pid = self._process.pid
        self.stderr = os.fdopen(reading)

    def poll(self) -> int | None:
        """Its exit code, if it has ended."""
        return self._process.exitcode

    def wait(self, timeout: float) -> int:
        """Its exit code, once it has ended."""
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired("service", timeout)
        return code

    def send_signal(self, number: signal.Signals) -> None:
        """Send it a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)


def may_be_forked(environ: Mapping[str, str]) -> bool:
    """Return whether nothing is for the interpreter, which reads it as it starts: a variable, or coverage."""
    measured = any(name.startswith("COVERAGE_") for name in os.environ)
    return not measured and not any(name.startswith("PYTHON") for name in environ)


def _run(
    arguments: Sequence[str], environ: Mapping[str, str], stdout: Connection, stderr: Connection
) -> None:
    os.setsid()
    for number, stream in enumerate((stdout, stderr), start=1):
        os.dup2(stream.fileno(), number)
        stream.close()
    os.environ.clear()
    os.environ.update(environ)
    sys.argv = ["service", *arguments]
    from service.__main__ import main  # noqa: PLC0415 - it is there already where this runs

    try:
        main()
    finally:
        atexit._run_exitfuncs()  # noqa: SLF001 - a forked process would leave them out
