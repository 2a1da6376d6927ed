"""A server program that a test ends, kills, or lets stand still."""

from __future__ import annotations

import os
import signal
import subprocess
from typing import Self

from tests.driving.program import SECONDS


class Child:
    """A process of the test's own; it ends with the `with` statement."""

    process: subprocess.Popen[bytes]

    def stop(self) -> None:
        """End it as its operator would; what it keeps on disk is written."""
        self.thaw()
        self._end(signal.SIGTERM)

    def kill(self) -> None:
        """End it without warning."""
        self._end(signal.SIGKILL)

    def freeze(self) -> None:
        """Let it stand still: its connections stay open, new ones are accepted by the system, and nothing is answered."""
        self.process.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WNOWAIT)

    def thaw(self) -> None:
        """Let it go on."""
        self.process.send_signal(signal.SIGCONT)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _end(self, how: signal.Signals) -> None:
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(SECONDS)
