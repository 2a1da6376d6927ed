"""`python -m benchmarks [what]`: the table of requests per CPU-second, or one of the other topics."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping

from benchmarks import (
    api_kit,
    capacity,
    cores,
    flat,
    instructions,
    latency,
    memory,
    reload,
    round_trips,
    stalls,
    start,
    tracking,
)
from benchmarks.effort import Effort, effort
from benchmarks.finding import Finding
from benchmarks.results import show_findings, show_table
from benchmarks.throughput import table

TABLE = "table"
TOPICS: Mapping[str, Callable[[Effort], list[Finding]]] = {
    "round-trips": round_trips.measure,
    "latency": latency.measure,
    "stalls": stalls.measure,
    "reload": reload.measure,
    "cores": cores.measure,
    "memory": memory.measure,
    "capacity": capacity.measure,
    "start": start.measure,
    "flat": flat.measure,
    "api-kit": api_kit.measure,
    "tracking": tracking.measure,
    "instructions": instructions.measure,
}


def main() -> None:
    """Measure what is asked for; with --check, fail where a bar is missed."""
    asked = effort([TABLE, *TOPICS])
    if asked.what == TABLE:
        measured = table(asked)
        show_table(measured, asked.results)
        missed = measured.missed()
    else:
        findings = TOPICS[asked.what](asked)
        show_findings(asked.what, findings, asked.results)
        missed = [finding.what for finding in findings if not finding.met]
    if asked.check and missed:
        sys.exit(f"below the bar by more than the noise: {', '.join(missed)}")


if __name__ == "__main__":
    main()
