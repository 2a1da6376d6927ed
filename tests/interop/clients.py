"""Which clients there are, and how each is run: a folder with a program `run` that installs what it needs and starts."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import time
from asyncio.subprocess import PIPE, STDOUT, Process
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import click

FOLDER = Path(__file__).parent
PATIENCE = 300
"""Seconds that a client may take, with its installation."""


@dataclass
class Outcome:
    """How it went for one client."""

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


async def run(name: str, environ: Mapping[str, str]) -> Outcome:
    """Let a client do all that it does, and show what it says."""
    click.echo(f"\n{name}")
    outcome, begun = Outcome(name), time.monotonic()
    process = await asyncio.create_subprocess_exec(
        FOLDER / name / "run", env=environ, stdout=PIPE, stderr=STDOUT, start_new_session=True
    )
    try:
        async with asyncio.timeout(PATIENCE):
            await _listen(process, outcome)
            outcome.status = await process.wait()
    except TimeoutError:
        click.echo(f"  FAIL  it has not ended after {PATIENCE} s")
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    outcome.seconds = time.monotonic() - begun
    return outcome


async def _listen(process: Process, outcome: Outcome) -> None:
    """Show and count what a client says."""
    assert process.stdout is not None
    async for said in process.stdout:
        line = click.unstyle(said.decode(errors="replace")).rstrip("\n")
        click.echo(line)
        outcome.read(line)
