"""Runs named steps in order, says of each how it went, and counts."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import click


@dataclass
class Steps:
    """The steps of one client; `__main__` reads the lines that begin with `ok` or `FAIL`."""

    outcomes: list[bool] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Whether the block that follows goes through; the next one is tried anyway."""
        try:
            yield
        except Exception as error:  # noqa: BLE001 - whatever goes wrong is this step's failure
            self.outcomes.append(False)
            click.echo(f"  FAIL  {name}\n        {type(error).__name__}: {error}")
            traceback.print_exc(file=sys.stdout)
        else:
            self.outcomes.append(True)
            click.echo(f"  ok    {name}")

    def finish(self) -> None:
        """Leave with the status that says whether all went well."""
        passed = sum(self.outcomes)
        failed = len(self.outcomes) - passed
        click.echo(f"{passed} passed, {failed} failed")
        sys.exit(1 if failed else 0)
