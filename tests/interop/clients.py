"""Finds the clients, and runs each: a folder with a program `run`, and perhaps `prepare`, which installs what that needs."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Awaitable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

FOLDER = Path(__file__).parent
PATIENCE = 300
"""Seconds that a client may take."""
PATIENCE_FOR_DOWNLOADS = 900
"""Seconds that its installation may take, while others are installed, too."""


@dataclass
class Outcome:
    """The result of one client."""

    name: str
    seconds: float = 0
    steps: list[bool] = field(default_factory=list)
    status: int | None = None

    @property
    def succeeded(self) -> bool:
        """Whether something was checked, all of it held, and the program ended as it should."""
        return self.status == 0 and bool(self.steps) and all(self.steps)

    def read(self, line: str) -> None:
        """Count a line that says how a step went."""
        if found := re.match(r"  (ok|FAIL)  ", line):
            self.steps.append(found[1] == "ok")


def every_client() -> list[str]:
    """The names of all of them."""
    return sorted(program.parent.name for program in FOLDER.glob("*/run"))


async def prepare(name: str, environ: Mapping[str, str]) -> str | None:
    """Install what a client needs; return what was said where that failed."""
    program = FOLDER / name / "prepare"
    if not program.exists():
        return None
    process = await _start(program, environ)
    try:
        async with asyncio.timeout(PATIENCE_FOR_DOWNLOADS):
            said, _ = await process.communicate()
    except TimeoutError:
        return f"the installation has not ended after {PATIENCE_FOR_DOWNLOADS} s"
    finally:
        _end(process)
    return said.decode(errors="replace") if process.returncode else None


async def run(name: str, environ: Mapping[str, str], preparing: Awaitable[str | None]) -> Outcome:
    """Let a client do all that it does once it is installed, and show what it says."""
    outcome, begun = Outcome(name), time.monotonic()
    failure = await preparing
    click.echo(f"\n{name}")
    if failure is not None:
        click.echo(f"  FAIL  it cannot be installed\n{failure}")
        return outcome
    process = await _start(FOLDER / name / "run", environ)
    try:
        async with asyncio.timeout(PATIENCE):
            await _listen(process, outcome)
            outcome.status = await process.wait()
    except TimeoutError:
        click.echo(f"  FAIL  it has not ended after {PATIENCE} s")
    finally:
        _end(process)
    outcome.seconds = time.monotonic() - begun
    return outcome


async def _start(program: Path, environ: Mapping[str, str]) -> Process:
    return await asyncio.create_subprocess_exec(
        program, env=environ, stdout=PIPE, stderr=STDOUT, start_new_session=True
    )


def _end(process: Process) -> None:
    """End whatever of it is left."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


async def _listen(process: Process, outcome: Outcome) -> None:
    """Show and count what a client says."""
    assert process.stdout is not None
    async for said in process.stdout:
        line = click.unstyle(said.decode(errors="replace")).rstrip("\n")
        click.echo(line)
        outcome.read(line)
