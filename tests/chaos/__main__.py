"""Breaks what can break while callers go on, and checks what the service promises: `python -m tests.chaos [--short] [SCENARIO …]`."""

from __future__ import annotations

import signal
import sys
from pathlib import Path

import click

from tests.chaos.report import show_broken, show_headings, write
from tests.chaos.running import run
from tests.chaos.scenarios import SCENARIOS
from tests.chaos.stage import FULL, SHORT

RESULTS = Path("build/chaos/chaos.json")


@click.command()
@click.option("--short", is_flag=True, help="Some seconds each, as CI does.")
@click.argument(
    "names", nargs=-1, metavar="[SCENARIO]…", type=click.Choice([s.name for s in SCENARIOS])
)
def chaos(short: bool, names: tuple[str, ...]) -> None:
    """Run these scenarios, or all; the status is 1 where a promise was broken."""
    signal.signal(
        signal.SIGTERM, signal.default_int_handler
    )  # what was started is ended, as at Ctrl-C
    show_headings()
    chosen = [s for s in SCENARIOS if s.name in names or not (names or (short and s.only_in_full))]
    outcomes = run(chosen, SHORT if short else FULL)
    write(outcomes, RESULTS)
    show_broken(outcomes)
    sys.exit(0 if all(each.kept for each in outcomes) else 1)


chaos()
