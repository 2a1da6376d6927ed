"""The report of a run: a line for each scenario, every broken promise, and the same as JSON."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import click

from tests.chaos.fault import Fault
from tests.chaos.ledger import Ledger
from tests.chaos.promises import Breach, failures, forgotten


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """The result of one scenario."""

    name: str
    requests: int
    failures: dict[str, int]
    """How many, by kind."""
    recovery: float
    """Seconds from the end of the fault to that of the last failure; where the service mends itself, from its
    beginning."""
    acknowledged: int
    """Tokens that were handed out, every one of which was asked about in the end."""
    used_once: int
    """Codes and refresh tokens that were used."""
    forgotten: int
    """Tokens that the store lost, as asynchronous replication may."""
    notes: tuple[str, ...]
    breaches: tuple[str, ...]

    @property
    def kept(self) -> bool:
        """Whether every promise was."""
        return not self.breaches


def outcome(name: str, ledger: Ledger, fault: Fault, found: Sequence[Breach]) -> Outcome:
    """The sums of the ledger."""
    failed = failures(ledger)
    once = [*ledger.codes, *ledger.refresh_tokens.values()]
    return Outcome(
        name=name,
        requests=len(ledger.answers),
        failures=dict(Counter(each.label for each in failed).most_common()),
        recovery=max((each.ended - fault.mended for each in failed), default=0.0),
        acknowledged=len(ledger.tokens),
        used_once=sum(bool(each.successes) for each in once),
        forgotten=forgotten(ledger, fault),
        notes=tuple(fault.notes),
        breaches=tuple(map(str, found)),
    )


def crashed(name: str, error: BaseException) -> Outcome:
    """A scenario that did not come to its end, which keeps no promise."""
    why = f"the scenario broke off: {type(error).__name__}: {str(error)[-LAST_WORDS:]}"
    return Outcome(
        name=name,
        requests=0,
        failures={},
        recovery=0,
        acknowledged=0,
        used_once=0,
        forgotten=0,
        notes=(),
        breaches=(why,),
    )


LAST_WORDS = 500
"""How much is told of an error, whose end says most."""
COLUMNS = "{:<24}{:>9}{:>8}{:>10}{:>8}{:>10}{:>7}  {:<9}{}"
HEADINGS = (
    "scenario",
    "requests",
    "failed",
    "recovery",
    "tokens",
    "used once",
    "lost",
    "promises",
    "failures by kind",
)


def show_headings() -> None:
    """The first line of the table."""
    click.echo(COLUMNS.format(*HEADINGS))


def show(one: Outcome) -> None:
    """A line of the table, and what is to be said about it."""
    click.echo(
        COLUMNS.format(
            one.name,
            one.requests,
            sum(one.failures.values()),
            f"{max(one.recovery, 0):.2f} s",
            one.acknowledged,
            one.used_once,
            one.forgotten,
            "kept" if one.kept else "BROKEN",
            ", ".join(f"{times} x {label}" for label, times in one.failures.items()),
        ).rstrip()
    )
    for note in one.notes:
        click.echo(f"    {note}")
    for breach in one.breaches:
        click.echo(f"    BROKEN  {breach}")


def show_broken(outcomes: Sequence[Outcome]) -> None:
    """The last lines: what was broken, once more, because of a long log the end is read first."""
    for one in outcomes:
        for breach in one.breaches:
            click.echo(f"BROKEN  {one.name}: {breach}")


def write(outcomes: Sequence[Outcome], file: Path) -> None:
    """The same for programs."""
    file.parent.mkdir(parents=True, exist_ok=True)
    told = [vars(each) | {"kept": each.kept} for each in outcomes]
    file.write_text(json.dumps(told, indent=2) + "\n")
